import { useQueryClient } from '@tanstack/react-query';
import type { Account } from '#sdk/api.ts';
import { operator } from '../../api/client.ts';
import { numberOf, RequestForm, textOf } from '../../forms/request-form.tsx';
import { credits } from '../../text/format.ts';
import { Id } from '../../ui/copy.tsx';
import { Credits } from '../../ui/credits.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';

const PLANS = [
  ['lite', 'lite'],
  ['pro', 'pro'],
] as const;

/** Name, plan and balance, with forms to change them. */
export function AccountFacts({ account, reload }: { account: Account; reload: () => Promise<void> }) {
  const { balance } = account;
  const change = async (given: FormData) => {
    const plan = given.get('plan') === 'lite' ? 'lite' : 'pro';
    await operator.accounts.update(account.id, { name: String(given.get('name')), plan });
    await reload();
    say('Saved.');
  };
  return (
    <>
      <Section>
        <Facts
          rows={[
            ['Id', <Id key="id" value={account.id} />],
            ['Plan', account.plan],
            ['Credits', balance.amount === null ? 'unlimited' : <Credits key="credits" of={balance.amount} />],
            ['Held for jobs', <Credits key="held" of={balance.held} />],
            ['Credits per minute', `lite ${credits(balance.rates.lite)}, pro ${credits(balance.rates.pro)}`],
            ['Created', <Time key="created" at={account.created_at} exact />],
            [
              'Changes',
              <a key="audit" href={`#/operator/audit?account_id=${account.id}`}>
                Audit log
              </a>,
            ],
          ]}
        />
      </Section>
      {balance.unlimited ? null : <AddCredits account={account} reload={reload} />}
      <Section title="Change">
        <RequestForm
          key={`${account.name} ${account.plan}`}
          label="Change the account"
          submitLabel="Save"
          send={change}
        >
          <div className="columns">
            <TextField label="Name" name="name" required maxLength={200} defaultValue={account.name} />
            <SelectField label="Plan" name="plan" options={PLANS} defaultValue={account.plan} />
          </div>
        </RequestForm>
      </Section>
    </>
  );
}

function AddCredits({ account, reload }: { account: Account; reload: () => Promise<void> }) {
  const queryClient = useQueryClient();
  const add = async (given: FormData) => {
    const amount = numberOf(given, 'amount') ?? 0;
    const note = textOf(given, 'note');
    await operator.accounts.addCredits(account.id, { amount, ...(note && { note }) });
    await Promise.all([reload(), queryClient.invalidateQueries({ queryKey: ['operator', 'ledger', account.id] })]);
    say(amount > 0 ? `${credits(amount)} credits were added.` : `${credits(-amount)} credits were removed.`);
  };
  return (
    <Section title="Credits">
      <RequestForm label="Add credits" submitLabel="Add" send={add}>
        <div className="columns">
          <TextField
            label="Amount"
            name="amount"
            type="number"
            step="any"
            required
            hint="A negative amount removes credits."
          />
          <TextField label="Note" name="note" maxLength={500} hint="Shown in the ledger." />
        </div>
      </RequestForm>
    </Section>
  );
}
