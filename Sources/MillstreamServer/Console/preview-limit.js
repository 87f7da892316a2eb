// How much of a stream plays: one of a few lengths, applied at once, or a person's own, applied when it is finished.

import { setAttribute, setHidden } from './element.js';
import { announce } from './status.js';

/** Event: `change` when another limit holds. */
export class PreviewLimit extends EventTarget {
    #select = document.getElementById('preview');
    #row = document.getElementById('preview-custom-row');
    #field = document.getElementById('preview-custom');
    #apply = document.getElementById('preview-apply');
    #note = document.getElementById('preview-note');
    #seconds = '';

    constructor() {
        super();
        this.#select.addEventListener('change', () => this.#choose());
        // Not on `change`: a number field sends it with each press of an arrow. Enter submits the form.
        this.#field.form.addEventListener('submit', () => this.#applyOwn());
        this.#field.addEventListener('input', () => setAttribute(this.#field, 'aria-invalid', null));
        this.#row.addEventListener('focusout', ({ relatedTarget }) => {
            if (!this.#row.contains(relatedTarget) && !this.#isEmpty) this.#applyOwn();
        });
    }

    /** The limit that holds, in seconds, as the address wants it; empty without any. */
    get seconds() {
        return this.#seconds;
    }

    /** Without any limit again, for another stream. */
    reset(disabled) {
        this.#seconds = '';
        this.#select.value = '';
        this.#showOwn(false);
        for (const field of [this.#select, this.#field, this.#apply]) field.disabled = disabled;
    }

    get #isEmpty() {
        return this.#field.value === '' && !this.#field.validity.badInput;
    }

    #choose() {
        const isOwn = this.#select.value === 'custom';
        // The limit that holds goes on until another is finished.
        if (isOwn) this.#field.value = this.#seconds;
        this.#showOwn(isOwn);
        if (!isOwn) this.#set(this.#select.value);
    }

    #showOwn(isOwn) {
        setHidden(this.#row, !isOwn);
        setHidden(this.#note, this.#select.value === '');
        setAttribute(this.#field, 'aria-invalid', null);
    }

    #applyOwn() {
        if (this.#select.value !== 'custom' || this.#field.disabled) return;
        const seconds = this.#field.valueAsNumber;
        setAttribute(this.#field, 'aria-invalid', seconds > 0 ? null : 'true');
        if (seconds > 0) this.#set(String(seconds));
        else announce('The preview limit needs a number of seconds above 0.', { tone: 'problem' });
    }

    #set(seconds) {
        if (seconds === this.#seconds) return;
        this.#seconds = seconds;
        this.dispatchEvent(new Event('change'));
    }
}
