const SENTENCES: Readonly<Record<string, string>> = {
  no_user: 'No user has this sign-in. Ask an owner for an invitation, then open its link.',
  no_account: 'You no longer belong to an account. Ask an owner for an invitation.',
  no_email: 'The provider did not share your email address. Allow it to, then sign in again.',
  other_email: 'The invitation is for another email address. Sign in with that address, or ask for another invitation.',
  no_invitation: 'The invitation was used, deleted, or is older than 7 days. Ask for a new one.',
  conflict: 'Another user has this email, or the account is full. Ask an owner.',
  set_up_already: 'This service is set up already. Sign in.',
  expired: 'The sign-in took longer than 10 minutes, or began in another browser. Try again.',
  cancelled: 'The sign-in was canceled at the provider. Try again.',
};

/** Why a sign-in at the OpenID provider ended here. @param code  of the address */
export function ProviderProblem({ code }: { code: string }) {
  return (
    <div className="notice problem" role="alert">
      <p>{SENTENCES[code] ?? 'The sign-in at the provider failed. Try again, or ask the operator for the log.'}</p>
    </div>
  );
}
