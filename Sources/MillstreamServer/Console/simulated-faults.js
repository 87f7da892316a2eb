// The panel for the faults that the server simulates in playlists and media.

import { changeFaults, fetchFaults } from './api.js';
import { setHidden, setText, setTextOrHide } from './element.js';
import { errorMessage } from './error-message.js';
import { showMessage } from './messages.js';

const find = (id) => document.getElementById(id);

export class SimulatedFaults {
    #text = find('faults-text');
    #isChanged = false;

    constructor() {
        this.#text.addEventListener('input', () => {
            this.#isChanged = true;
            this.#setError('');
        });
        find('faults').addEventListener('toggle', () => this.#setError(''));
        find('close-player').addEventListener('click', () => this.#setError(''));
        find('faults-form').addEventListener('submit', (event) => {
            event.preventDefault();
            this.#apply(this.#lines);
        });
        find('remove-faults').addEventListener('click', () => this.#apply([]));
    }

    /** Loads the faults of the server; text that is not applied yet stays. */
    async load() {
        this.#show(await fetchFaults());
    }

    get #lines() {
        return this.#text.value.split('\n').map((line) => line.trim()).filter(Boolean);
    }

    async #apply(lines) {
        try {
            const faults = await changeFaults(lines);
            this.#isChanged = false;
            this.#setError('');
            this.#show(faults);
            showMessage(faults.length === 0 ? 'The server simulates no faults.'
                : `The server simulates ${faults.length === 1 ? 'this fault' : `these ${faults.length} faults`}.`);
        } catch (error) {
            const text = `The faults could not be changed. ${errorMessage(error)}`;
            this.#setError(text);
            showMessage(text, { type: 'error', isVisible: false });
        }
    }

    /** Shows what is wrong with the text next to it, or nothing. */
    #setError(text) {
        setTextOrHide(find('faults-error'), text);
        this.#text.setAttribute('aria-invalid', String(Boolean(text)));
    }

    #show(faults) {
        if (!this.#isChanged) this.#text.value = faults.join('\n');
        setText(find('faults-count'), String(faults.length));
        setHidden(find('faults-count'), faults.length === 0);
    }
}
