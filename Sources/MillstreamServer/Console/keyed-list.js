// A container whose children are matched to list items by key. Updates reuse the child of each key, which preserves
// the focus, an open select and a text selection.

export class KeyedList {
    #container;
    #createView;
    #focusWhenEmpty;
    #views = new Map();

    /**
     * `createView(key)` returns an object with an `element` and an `update(item)` method.
     * `focusWhenEmpty` is the element that receives the focus when the focused child is removed and no other is left.
     */
    constructor(container, createView, focusWhenEmpty) {
        this.#container = container;
        this.#createView = createView;
        this.#focusWhenEmpty = focusWhenEmpty;
    }

    /** Shows `items`, an array of `[key, item]`, in this order. */
    update(items) {
        const keys = new Set(items.map(([key]) => key));
        for (const [key, view] of this.#views) {
            if (!keys.has(key)) this.#remove(key, view);
        }
        let next = this.#container.firstElementChild;
        for (const [key, item] of items) {
            let view = this.#views.get(key);
            if (!view) {
                view = this.#createView(key);
                this.#views.set(key, view);
            }
            view.update(item);
            if (view.element === next) next = next.nextElementSibling;
            else this.#insert(view.element, next);
        }
    }

    #insert(child, next) {
        // insertBefore takes the focus from a child that it moves; moveBefore, where available, does not.
        if (child.isConnected && this.#container.moveBefore) {
            this.#container.moveBefore(child, next);
            return;
        }
        const focused = child.contains(document.activeElement) ? document.activeElement : null;
        this.#container.insertBefore(child, next);
        focused?.focus({ preventScroll: true });
    }

    #remove(key, view) {
        const hadFocus = view.element.contains(document.activeElement);
        const sibling = view.element.nextElementSibling ?? view.element.previousElementSibling;
        view.element.remove();
        this.#views.delete(key);
        if (!hadFocus) return;
        (sibling?.querySelector('button:not([hidden], :disabled)') ?? this.#focusWhenEmpty)?.focus();
    }
}
