// The buttons of a stream card or a download row. They are created once, then shown or hidden, which preserves the
// focus.

import { createElement, createIcon, setAttribute, setHidden, setText } from './element.js';

const icons = {
    'play-offline': 'play', play: 'play', download: 'download', resume: 'resume', pause: 'pause', cancel: 'cancel', delete: 'delete',
};

// The buttons that receive the focus when the focused button is hidden as a result of its own action.
const nextFocus = {
    download: ['pause', 'resume'], resume: ['pause', 'play-offline'], pause: ['resume'], cancel: ['resume', 'play-offline', 'download'],
    delete: ['download', 'play'], 'play-offline': ['play'],
};

export class ActionBar {
    element;
    #buttons = new Map();

    /** `perform(action)` is called with the name of the action whose button is pressed. */
    constructor(actions, perform) {
        this.element = createElement('div', { class: 'actions' });
        for (const action of actions) {
            const label = createElement('span', { class: 'label' });
            const button = createElement(
                'button',
                { type: 'button', dataset: { action }, onclick: () => this.#press(action, perform) },
                createIcon(icons[action]),
                label,
            );
            button.hidden = true;
            this.#buttons.set(action, { button, label });
            this.element.append(button);
        }
    }

    /**
     * Shows the buttons of the available actions and hides the others. `available` is
     * `{action: {label, name, primary}}`; `name` is the accessible name and the tooltip ("Download Tears of Steel").
     */
    update(available) {
        let hiddenFocus;
        for (const [action, { button, label }] of this.#buttons) {
            const state = available[action];
            if (!state) {
                if (!button.hidden && document.activeElement === button) hiddenFocus = action;
                setHidden(button, true);
                continue;
            }
            setText(label, state.label);
            setAttribute(button, 'aria-label', state.name);
            setAttribute(button, 'title', state.name);
            button.classList.toggle('primary', Boolean(state.primary));
            setHidden(button, false);
        }
        if (hiddenFocus) this.#moveFocus(hiddenFocus);
    }

    #moveFocus(action) {
        const preferred = (nextFocus[action] ?? []).map((name) => this.#buttons.get(name)).filter(Boolean);
        const next = [...preferred, ...this.#buttons.values()].find(({ button }) => !button.hidden);
        next?.button.focus({ preventScroll: true });
    }

    async #press(action, perform) {
        const { button } = this.#buttons.get(action);
        // Not `disabled`, which would take the focus away until the server responds.
        if (button.getAttribute('aria-busy') === 'true') return;
        button.setAttribute('aria-busy', 'true');
        try {
            await perform(action);
        } finally {
            button.removeAttribute('aria-busy');
        }
    }
}
