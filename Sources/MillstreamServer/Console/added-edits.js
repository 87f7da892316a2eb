// The edits that a user adds to those with controls of their own: an edit for a second time, or edits in another order.

import { createEditControl } from './edit-controls.js';
import { createElement, setHidden } from './element.js';

/** Events: `change` when the user has added, changed or removed an edit; `add` with the control when an edit was added. */
export class AddedEdits extends EventTarget {
    #menu = document.getElementById('add-edit');
    #list = document.getElementById('added-edits');
    #limitNote = document.getElementById('edit-limit-note');
    #definitions = [];
    #controls = [];
    #count = 0;
    #isFixed = false;
    #isFull = false;

    constructor() {
        super();
        this.#menu.addEventListener('change', () => {
            const definition = this.#definitions.find(({ name }) => name === this.#menu.value);
            this.#menu.value = '';
            if (definition) this.#add(definition);
        });
    }

    /** Offers the edits with these definitions. */
    load(definitions) {
        this.#definitions = definitions;
        this.#menu.replaceChildren(
            createElement('option', { value: '', text: 'Select an edit…' }),
            ...definitions.map(({ name, title, summary }) => createElement('option', { value: name, text: title, title: summary })),
        );
    }

    /** The controls, in the order in which their edits are applied. */
    get controls() {
        return this.#controls;
    }

    /** Removes all edits. */
    reset() {
        this.#controls = [];
        this.#list.replaceChildren();
    }

    /** Sets whether the stream cannot be edited. */
    set isFixed(isFixed) {
        this.#isFixed = isFixed;
        this.#update();
    }

    /** Sets the number of all edits of the stream, and how many the server applies to a playlist. */
    setCount(count, maximum) {
        this.#isFull = count >= maximum;
        this.#limitNote.textContent = `The server applies at most ${maximum} edits to a playlist.`;
        this.#update();
    }

    #update() {
        this.#menu.disabled = this.#isFixed || this.#isFull;
        setHidden(this.#limitNote, !this.#isFull);
    }

    #add(definition) {
        this.#count += 1;
        const control = createEditControl(definition, `added-${this.#count}-${definition.name}`);
        const remove = createElement('button', {
            type: 'button', class: 'borderless', text: 'Remove', 'aria-label': `Remove ${definition.title}`,
            onclick: () => this.#remove(control, item),
        });
        const item = createElement('li', { dataset: { edit: definition.name } }, control.node, remove);
        // An edit without a value is added to be applied.
        if (!definition.parameter) control.fields[0].checked = true;
        this.#controls.push(control);
        this.#list.append(item);
        control.node.addEventListener('change', () => this.dispatchEvent(new Event('change')));
        this.dispatchEvent(new CustomEvent('add', { detail: control }));
        this.dispatchEvent(new Event('change'));
        control.fields[0].focus();
    }

    #remove(control, item) {
        this.#controls = this.#controls.filter((other) => other !== control);
        item.remove();
        this.dispatchEvent(new Event('change'));
        this.#menu.focus();
    }
}
