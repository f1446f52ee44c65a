const SENTENCES: Readonly<Record<string, string>> = {
  no_user: 'Nobody here has this sign-in. Ask an owner for an invitation, and open its link.',
  no_account: 'You belong to no account any more. Ask for an invitation.',
  no_email: 'The provider did not say your email, which is needed the first time.',
  other_email: 'The invitation is for another email than the one that the provider has verified.',
  no_invitation: 'The invitation was used, deleted, or is older than 7 days. Ask for a new one.',
  conflict: 'Another user has this email, or the account is full. Ask an owner.',
  set_up_already: 'The service has its first user already. Sign in.',
  expired: 'The sign-in took longer than 10 minutes, or began in another browser. Try again.',
  cancelled: 'The sign-in was cancelled at the provider.',
};

/** Why a sign-in at the OpenID provider ended here. @param code  of the address */
export function ProviderProblem({ code }: { code: string }) {
  return (
    <div className="notice problem" role="alert">
      <p>{SENTENCES[code] ?? 'The sign-in at the provider failed. Try again, or ask the operator for the log.'}</p>
    </div>
  );
}
