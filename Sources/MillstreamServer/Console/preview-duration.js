// The control for the preview duration. A preset applies at once, a custom duration when the user confirms it.

import { setAttribute, setHidden } from './element.js';
import { showMessage } from './messages.js';

/** Event: `change` when another duration applies. */
export class PreviewDuration extends EventTarget {
    #select = document.getElementById('preview');
    #customRow = document.getElementById('preview-custom-row');
    #field = document.getElementById('preview-custom');
    #applyButton = document.getElementById('preview-apply');
    #note = document.getElementById('preview-note');
    #seconds = '';

    constructor() {
        super();
        this.#select.addEventListener('change', () => this.#handleSelection());
        // Not on `change`, which a number field sends for every step of its arrows. Enter submits the form.
        this.#field.form.addEventListener('submit', () => this.#applyCustom());
        this.#field.addEventListener('input', () => setAttribute(this.#field, 'aria-invalid', null));
        this.#customRow.addEventListener('focusout', ({ relatedTarget }) => {
            if (!this.#customRow.contains(relatedTarget) && !this.#isEmpty) this.#applyCustom();
        });
    }

    /** The duration that applies, in seconds, as text; empty without a limit. */
    get seconds() {
        return this.#seconds;
    }

    /** Removes the limit. */
    reset(isDisabled) {
        this.#seconds = '';
        this.#select.value = '';
        this.#showCustomRow(false);
        for (const field of [this.#select, this.#field, this.#applyButton]) field.disabled = isDisabled;
    }

    get #isEmpty() {
        return this.#field.value === '' && !this.#field.validity.badInput;
    }

    #handleSelection() {
        const isCustom = this.#select.value === 'custom';
        // The previous duration applies until the custom one is confirmed.
        if (isCustom) this.#field.value = this.#seconds;
        this.#showCustomRow(isCustom);
        if (!isCustom) this.#apply(this.#select.value);
    }

    #showCustomRow(isCustom) {
        setHidden(this.#customRow, !isCustom);
        setHidden(this.#note, this.#select.value === '');
        setAttribute(this.#field, 'aria-invalid', null);
    }

    #applyCustom() {
        if (this.#select.value !== 'custom' || this.#field.disabled) return;
        const seconds = this.#field.valueAsNumber;
        setAttribute(this.#field, 'aria-invalid', seconds > 0 ? null : 'true');
        if (seconds > 0) this.#apply(String(seconds));
        else showMessage('The preview duration must be greater than 0 seconds.', { type: 'error' });
    }

    #apply(seconds) {
        if (seconds === this.#seconds) return;
        this.#seconds = seconds;
        this.dispatchEvent(new Event('change'));
    }
}
