// A container whose children follow a list, each child kept for as long as its key is in the list, so that focus, an
// open select and a text selection outlive an update.

export class KeyedList {
    #container;
    #make;
    #focusWhenEmpty;
    #views = new Map();

    /**
     * `make(key)` returns a view: an object with an `element` and an `update(item)`.
     * `focusWhenEmpty` gets the focus when the child that had it goes and no other is left.
     */
    constructor(container, make, focusWhenEmpty) {
        this.#container = container;
        this.#make = make;
        this.#focusWhenEmpty = focusWhenEmpty;
    }

    /** Shows `items`, an array of `[key, item]`, in its order. */
    show(items) {
        const wanted = new Set(items.map(([key]) => key));
        for (const [key, view] of this.#views) {
            if (!wanted.has(key)) this.#remove(key, view);
        }
        let place = this.#container.firstElementChild;
        for (const [key, item] of items) {
            let view = this.#views.get(key);
            if (!view) {
                view = this.#make(key);
                this.#views.set(key, view);
            }
            view.update(item);
            if (view.element === place) place = place.nextElementSibling;
            else this.#move(view.element, place);
        }
    }

    #move(child, before) {
        // Taking a child out and putting it back drops its focus; moveBefore, where the browser has it, does not.
        if (child.isConnected && this.#container.moveBefore) {
            this.#container.moveBefore(child, before);
            return;
        }
        const focused = child.contains(document.activeElement) ? document.activeElement : null;
        this.#container.insertBefore(child, before);
        focused?.focus({ preventScroll: true });
    }

    #remove(key, view) {
        const hadFocus = view.element.contains(document.activeElement);
        const neighbour = view.element.nextElementSibling ?? view.element.previousElementSibling;
        view.element.remove();
        this.#views.delete(key);
        if (!hadFocus) return;
        (neighbour?.querySelector('button:not([hidden], :disabled)') ?? this.#focusWhenEmpty)?.focus();
    }
}
