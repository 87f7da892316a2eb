// The buttons of a card or a row. They are made once and shown or hidden, never made again, so that the focus stays.

import { element, icon, setAttribute, setHidden, setText } from './element.js';

const icons = {
    'play-kept': 'play', play: 'play', download: 'download', resume: 'resume', cancel: 'cancel', delete: 'delete',
};

// Where the focus goes when the button that has it is hidden because its work changed what can be done.
const successors = {
    download: ['cancel', 'resume'], resume: ['cancel', 'play-kept'], cancel: ['resume', 'play-kept', 'download'],
    delete: ['download', 'play'], 'play-kept': ['play'],
};

export class ActionBar {
    element;
    #buttons = new Map();

    /** `perform(action)` is called with the name of the button pressed. */
    constructor(actions, perform) {
        this.element = element('div', { class: 'actions' });
        for (const action of actions) {
            const label = element('span', { class: 'label' });
            const button = element(
                'button',
                { type: 'button', dataset: { action }, onclick: () => this.#press(action, perform) },
                icon(icons[action]),
                label,
            );
            button.hidden = true;
            this.#buttons.set(action, { button, label });
            this.element.append(button);
        }
    }

    /**
     * Shows the actions of `shown`: `{action: {label, name, primary}}`. What cannot be done is not there.
     * `name` says it in full for a screen reader ("Download Tears of Steel").
     */
    update(shown) {
        let lost;
        for (const [action, { button, label }] of this.#buttons) {
            const state = shown[action];
            if (!state) {
                if (!button.hidden && document.activeElement === button) lost = action;
                setHidden(button, true);
                continue;
            }
            setText(label, state.label);
            setAttribute(button, 'aria-label', state.name);
            setAttribute(button, 'title', state.name);
            button.classList.toggle('primary', Boolean(state.primary));
            setHidden(button, false);
        }
        if (lost) this.#focusAfter(lost);
    }

    #focusAfter(action) {
        const usable = ({ button }) => !button.hidden;
        const natural = (successors[action] ?? []).map((name) => this.#buttons.get(name)).filter(Boolean);
        const successor = [...natural, ...this.#buttons.values()].find(usable);
        successor?.button.focus({ preventScroll: true });
    }

    async #press(action, perform) {
        const { button } = this.#buttons.get(action);
        // Not `disabled`: that would throw the focus away while the server works.
        if (button.getAttribute('aria-busy') === 'true') return;
        button.setAttribute('aria-busy', 'true');
        try {
            await perform(action);
        } finally {
            button.removeAttribute('aria-busy');
        }
    }
}
