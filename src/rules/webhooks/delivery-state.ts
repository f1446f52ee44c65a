export const DELIVERY_STATES = ['waiting', 'sending', 'succeeded', 'exhausted', 'dropped'] as const;
type DeliveryState = (typeof DELIVERY_STATES)[number];

type DeliveryMove = 'claim' | 'reclaim' | 'hand_back' | 'succeed' | 'retry' | 'exhaust' | 'drop';

type Move = { from: DeliveryState; move: DeliveryMove; to: DeliveryState; meaning: string };

/** Every legal move of a delivery. docs/states.md is generated from this table. */
export const DELIVERY_MOVES: readonly Move[] = [
  { from: 'waiting', move: 'claim', to: 'sending', meaning: 'its attempt is due and a deliverer claims it' },
  { from: 'waiting', move: 'drop', to: 'dropped', meaning: 'its webhook was disabled or deleted' },
  { from: 'sending', move: 'reclaim', to: 'sending', meaning: 'its lease expired; the same attempt is made again' },
  {
    from: 'sending',
    move: 'hand_back',
    to: 'waiting',
    meaning: 'the attempt was not started, or the deliverer stops; the attempt does not count',
  },
  { from: 'sending', move: 'succeed', to: 'succeeded', meaning: 'the receiver answered 2xx' },
  { from: 'sending', move: 'retry', to: 'waiting', meaning: 'the attempt failed and the next one is scheduled' },
  { from: 'sending', move: 'exhaust', to: 'exhausted', meaning: 'the last attempt failed' },
  { from: 'sending', move: 'drop', to: 'dropped', meaning: 'its webhook was disabled or deleted during the attempt' },
];
