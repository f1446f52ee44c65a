/** Only a waiting delivery has a row; the others are entries of the delivery log. */
export const DELIVERY_STATES = ['waiting', 'succeeded', 'exhausted', 'dropped'] as const;
type DeliveryState = (typeof DELIVERY_STATES)[number];

type DeliveryMove = 'succeed' | 'retry' | 'postpone' | 'exhaust' | 'drop';

type Move = { from: DeliveryState; move: DeliveryMove; to: DeliveryState; meaning: string };

/** Every legal move of a delivery. docs/states.md is generated from this table. */
export const DELIVERY_MOVES: readonly Move[] = [
  { from: 'waiting', move: 'succeed', to: 'succeeded', meaning: 'the receiver answered 2xx' },
  { from: 'waiting', move: 'retry', to: 'waiting', meaning: 'the attempt failed and the next one is scheduled' },
  {
    from: 'waiting',
    move: 'postpone',
    to: 'waiting',
    meaning: "the webhook's secret or headers cannot be opened; the attempt does not count",
  },
  { from: 'waiting', move: 'exhaust', to: 'exhausted', meaning: 'the last attempt failed' },
  {
    from: 'waiting',
    move: 'drop',
    to: 'dropped',
    meaning: 'its webhook was disabled or deleted, or its job was erased',
  },
];
