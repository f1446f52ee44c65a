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

// The dark theme of Swagger UI is a class.
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const applyTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyTheme);
applyTheme();

window.ui = window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  plugins: [samplesPlugin],
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  displayRequestDuration: true,
  // A key that was typed into the page is not stored.
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
