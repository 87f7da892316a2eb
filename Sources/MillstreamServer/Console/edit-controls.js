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
    'source-at-time': createStreamMenuWithTime,
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
            showMessage(`${title} must be ${form} from ${minimum} to ${maximum}.`, { type: 'error' });
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

function createStreamMenuWithTime({ name, title, summary, examples = [] }) {
    const menu = new StreamMenu(name, summary);
    const time = createElement('input', {
        type: 'text', id: `${name}-time`, autocomplete: 'off', spellcheck: 'false', placeholder: examples[0]?.split('@').at(-1),
        title: summary, 'aria-label': `${title}: time`,
    });
    return {
        node: labeledField(name, title, summary, createElement('div', { class: 'field-row' }, menu.select, time)),
        fields: [menu.select, time],
        value: () => (menu.url && time.value.trim() ? `${menu.url}@${time.value.trim()}` : undefined),
        reset: () => {
            menu.select.value = '';
            time.value = '';
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
