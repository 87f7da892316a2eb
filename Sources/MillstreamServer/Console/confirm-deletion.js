// The question before a kept copy is deleted.

const dialog = document.getElementById('confirm');
const text = document.getElementById('confirm-text');

/** Asks; the answer is whether to delete. Escape and a click outside mean no. */
export function confirmDeletion(question) {
    text.textContent = question;
    dialog.returnValue = '';
    dialog.showModal();
    return new Promise((resolve) => {
        dialog.addEventListener('close', () => resolve(dialog.returnValue === 'delete'), { once: true });
    });
}

dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close('');
});
