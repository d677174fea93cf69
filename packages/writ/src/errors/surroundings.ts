import type { Entry } from './entry.js';

/**
 * Codes of what stands around the queue: consumers, subscriptions, schedules. Part of the registry.
 */
export const surroundings = {
  // Consumers and subscriptions.
  invalid_consumer: {
    message: 'The consumer cannot be registered as it is.',
    remedy: 'See the detail; docs/events-to-jobs.md lists what a consumer can say.',
    status: 400,
    retryable: false,
  },
  consumer_loop: {
    message: 'The consumer would enqueue jobs about the jobs that it enqueues, for ever.',
    remedy: 'Name another kind as the subject, or none: its own jobs are then left out.',
    status: 400,
    retryable: false,
  },
  destination_not_found: {
    message: 'There is no such destination.',
    remedy: 'Check the name: `writ.destinations.list()`.',
    status: 404,
    retryable: false,
  },
  not_the_relay: {
    message: 'Another relay has the turn of this destination.',
    remedy: 'Nothing: the other one tells it what is left.',
    status: 409,
    retryable: false,
  },
  consumer_not_found: {
    message: 'There is no such consumer.',
    remedy: 'Check the name: `writ.consumers.list()`.',
    status: 404,
    retryable: false,
  },
  unknown_event_type: {
    message: 'There is no such type of event.',
    remedy: 'writ.event_type_registry lists them.',
    status: 400,
    retryable: false,
  },
  event_not_found: {
    message: 'This tenant has no such event.',
    remedy:
      'Check the id and the tenant; writ.event_outbox shows events. One past its retention causes no job.',
    status: 404,
    retryable: false,
  },
  invalid_subscription: {
    message: 'The subscription cannot be taken as it is.',
    remedy: 'Name a worker, a known domain or none, and a priority from -32768 to 32767.',
    status: 400,
    retryable: false,
  },
  subscription_not_found: {
    message: 'The worker has no such subscription.',
    remedy: 'Give the same kind and domain as `writ.subscriptions.list()` shows.',
    status: 404,
    retryable: false,
  },

  // Schedules.
  invalid_schedule: {
    message: 'This is not a schedule.',
    remedy:
      'Name it with 1 to 200 letters, digits and _ . : / - beginning with a letter or digit; its definition is an object.',
    status: 400,
    retryable: false,
  },
  invalid_cron: {
    message: 'This is not a cron expression, or it names a time that never comes.',
    remedy:
      'Write minute, hour, day of month, month and day of week, such as `30 2 * * MON-FRI`, or @hourly, @daily, @weekly, @monthly or @yearly.',
    status: 400,
    retryable: false,
  },
  cron_seconds_unsupported: {
    message: 'A cron expression has five fields here: schedules have no seconds.',
    remedy:
      'Leave the first field out; what must happen more often than once a minute is a loop, not a schedule.',
    status: 400,
    retryable: false,
  },
  invalid_time_zone: {
    message: 'There is no such time zone.',
    remedy: 'Use an IANA name such as Europe/Berlin or America/New_York, or UTC.',
    status: 400,
    retryable: false,
  },
  invalid_catch_up: {
    message: 'Missed ticks are caught up by none, last or all.',
    remedy: 'Use one of the three.',
    status: 400,
    retryable: false,
  },
  invalid_ticks: {
    message: 'These ticks cannot be fired.',
    remedy: 'See the detail; src/schedules/ works ticks out as the gates take them.',
    status: 400,
    retryable: false,
  },
  schedule_set_aside: {
    message: 'This schedule raised an error when it fired.',
    remedy:
      'The detail has the error. Writ tries the schedule again in an hour; put a corrected definition to fire it earlier.',
    status: 500,
    retryable: true,
  },
  schedule_moved: {
    message: 'The definition of the schedule was changed in the meantime.',
    remedy: 'Read it again, and change the version in the detail.',
    status: 409,
    retryable: false,
  },
  schedule_not_found: {
    message: 'This tenant has no such schedule.',
    remedy: 'Check the name and the tenant: `writ.schedules.list()`.',
    status: 404,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
