// The controls of edits. They are derived from the definitions that the server returns (GET /api/edits).

import { createElement, setAttribute } from './element.js';
import { showMessage } from './messages.js';

/**
 * Creates the control of an edit.
 *
 * A control has `definition`, `node`, `fields` (the inputs, which can be disabled), `value` (the value for the playback
 * URL, or `undefined` without the edit) and `reset()`. A control with menus of streams also has `updateStreams(store)`.
 * The fields send `change` events.
 */
export function createEditControl(definition) {
    const create = definition.parameter ? creators[definition.parameter.type] ?? createTextField : createCheckbox;
    return { definition, ...create(definition) };
}

const creators = {
    integer: createNumberField,
    source: createStreamMenu,
    'source-at-time': (definition) => createStreamMenuWithPosition(definition, 'time'),
    'source-at-breaks': (definition) => createStreamMenuWithPosition(definition, 'rule'),
};

function createCheckbox({ name, title, summary }) {
    const input = createElement('input', { type: 'checkbox', id: name });
    return {
        node: createElement('label', { class: 'checkbox', title: summary }, input, ` ${title}`),
        fields: [input],
        value: () => (input.checked ? '' : undefined),
        reset: () => { input.checked = false; },
    };
}

function createTextField({ name, title, summary, parameter, examples = [] }) {
    const input = createElement('input', {
        type: 'text', id: name, autocomplete: 'off', spellcheck: 'false', title: summary,
        placeholder: examples[0] ?? parameter.placeholder,
    });
    return {
        node: labeledField(name, title, summary, input),
        fields: [input],
        value: () => input.value.trim() || undefined,
        reset: () => { input.value = ''; },
    };
}

function createNumberField({ name, title, summary, parameter, examples = [] }) {
    const { minimum, maximum, form } = parameter;
    const input = createElement('input', {
        type: 'number', id: name, min: minimum, max: maximum, step: 1, title: summary, placeholder: examples[0],
    });
    input.addEventListener('change', () => {
        setAttribute(input, 'aria-invalid', input.validity.valid ? null : 'true');
        if (!input.validity.valid) {
            showMessage(`${title} must be ${form}.`, { type: 'error' });
        }
    });
    return {
        node: labeledField(name, title, summary, input),
        fields: [input],
        value: () => (input.validity.valid && input.value ? input.value : undefined),
        reset: () => {
            input.value = '';
            setAttribute(input, 'aria-invalid', null);
        },
    };
}

function createStreamMenu({ name, title, summary }) {
    const menu = new StreamMenu(name, summary);
    return {
        node: labeledField(name, title, summary, menu.select),
        fields: [menu.select],
        value: () => menu.url,
        reset: () => { menu.select.value = ''; },
        updateStreams: (store) => menu.update(store),
    };
}

/** A menu of streams with a field for the position, a time or a rule, that follows the URL of the stream after `@`. */
function createStreamMenuWithPosition({ name, title, summary, examples = [] }, position) {
    const menu = new StreamMenu(name, summary);
    const field = createElement('input', {
        type: 'text', id: `${name}-${position}`, autocomplete: 'off', spellcheck: 'false', title: summary,
        placeholder: examples[0]?.split('@').at(-1), 'aria-label': `${title}: ${position}`,
    });
    return {
        node: labeledField(name, title, summary, createElement('div', { class: 'field-row' }, menu.select, field)),
        fields: [menu.select, field],
        value: () => (menu.url && field.value.trim() ? `${menu.url}@${field.value.trim()}` : undefined),
        reset: () => {
            menu.select.value = '';
            field.value = '';
        },
        updateStreams: (store) => menu.update(store),
    };
}

function labeledField(name, title, summary, field) {
    return createElement('div', { class: 'field' },
        createElement('label', { for: name, text: title, title: summary }), field);
}

/** A menu of the HLS streams in the catalog. */
class StreamMenu {
    #store;
    #options = '';

    constructor(name, summary) {
        this.select = createElement('select', { id: name, title: summary },
            createElement('option', { value: '', text: 'None' }));
    }

    /** The URL of the selected stream, or `undefined` without one. */
    get url() {
        return this.#store?.stream(this.select.value)?.url;
    }

    update(store) {
        this.#store = store;
        const streams = store.streams.filter((stream) => stream.kind !== 'file' && stream.edits.length === 0);
        const fields = streams.map(({ id, name, advertisement }) => [id, name, Boolean(advertisement)]);
        const options = JSON.stringify(fields);
        // Replaced only if they differ, because that closes an open menu.
        if (options === this.#options) return;
        this.#options = options;
        const selected = this.select.value;
        const group = (label, members) => members.length === 0 ? [] : [createElement('optgroup', { label },
            ...members.map(({ id, name }) => createElement('option', { value: id, text: name })))];
        this.select.replaceChildren(
            createElement('option', { value: '', text: 'None' }),
            ...group('Advertisements', streams.filter((stream) => stream.advertisement)),
            ...group('Streams', streams.filter((stream) => !stream.advertisement)),
        );
        if (streams.some(({ id }) => id === selected)) this.select.value = selected;
    }
}
