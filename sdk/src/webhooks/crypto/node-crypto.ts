export { createHmac, timingSafeEqual } from 'node:crypto';
