// Runs in the browser, at /docs.

const LANGUAGE = { chosen: 'curl' };

/** Shows the `x-codeSamples` of each operation above its answers. */
function samplesPlugin({ React }) {
  const create = React.createElement;

  function CodeSamples({ samples }) {
    const [label, setLabel] = React.useState(LANGUAGE.chosen);
    const choose = (each) => {
      LANGUAGE.chosen = each;
      setLabel(each);
    };
    const { source } = samples.find((sample) => sample.label === label) ?? samples[0];
    return create(
      'div',
      { className: 'opblock-section', role: 'group', 'aria-label': 'Examples' },
      create(
        'div',
        { className: 'opblock-section-header' },
        create('h4', { className: 'opblock-title' }, 'Examples'),
        samples.map((sample) => {
          const isChosen = sample.label === label;
          const props = {
            key: sample.label,
            type: 'button',
            'aria-pressed': isChosen,
            onClick: () => choose(sample.label),
          };
          return create('button', { ...props, className: isChosen ? 'btn authorize' : 'btn' }, sample.label);
        }),
      ),
      create('div', { className: 'opblock-description-wrapper' }, create('pre', { className: 'microlight' }, source)),
    );
  }

  const withSamples = (Responses) => (props) => {
    const { path, method, specSelectors } = props;
    const samples = specSelectors.specJson().getIn(['paths', path, method, 'x-codeSamples']);
    const shown = samples ? create(CodeSamples, { samples: samples.toJS() }) : null;
    return create(React.Fragment, null, shown, create(Responses, props));
  };
  return { wrapComponents: { responses: withSamples } };
}

/** Names what has none, and takes controls out of other controls: for screen readers and the keyboard. */
function accessPlugin({ React }) {
  const create = React.createElement;

  /** Sets the name of the fields in a component. @param nameOf  of the component's properties */
  const withFieldNames = (nameOf) => (Component) => (props) => {
    const container = React.useRef(null);
    React.useLayoutEffect(() => {
      for (const field of container.current.querySelectorAll('input, select, textarea')) {
        if (field.labels.length === 0) field.setAttribute('aria-label', nameOf(props));
      }
    });
    return create('div', { ref: container }, create(Component, props));
  };
  // All of these boxes have one id, and all labels lead to the first of them: a label without it leads to the box in it.
  const withOwnLabel = (Box) => (props) => {
    const container = React.useRef(null);
    React.useLayoutEffect(() => container.current.querySelector('label').removeAttribute('for'));
    return create('div', { ref: container }, create(Box, props));
  };
  // The path stands in the button that opens the operation, which puts the link into the address of the page.
  const withoutLink = (Path) => (props) => {
    const getComponent = (name, ...rest) => (name === 'DeepLink' ? Text : props.getComponent(name, ...rest));
    return create(Path, { ...props, getComponent });
  };
  const Text = ({ text }) => create('span', null, text);
  const withText = (text) => (Icon) => (props) =>
    create(React.Fragment, null, create(Icon, props), create('span', { className: 'unseen' }, text));
  const nameByText = (Button) => (props) => create(Button, { ...props, 'aria-label': undefined });
  const withScrolling = (Code) => (props) =>
    create('div', { className: 'microlight', role: 'group', 'aria-label': 'Code', tabIndex: 0 }, create(Code, props));
  return {
    wrapComponents: {
      JsonSchemaForm: withFieldNames(({ description }) => description),
      RequestBodyEditor: withFieldNames(() => 'Request body'),
      ParameterIncludeEmpty: withOwnLabel,
      OperationSummaryPath: withoutLink,
      CloseIcon: withText('Close'),
      Button: nameByText,
      SyntaxHighlighter: withScrolling,
    },
  };
}

// The dark theme of Swagger UI is a class.
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyTheme);
applyTheme();

window.ui = window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  plugins: [samplesPlugin, accessPlugin],
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  displayRequestDuration: true,
  syntaxHighlight: { theme: 'tomorrow-night' },
  // A key that was typed into the page is not stored.
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
