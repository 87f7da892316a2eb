import CSDL2

/// The full screen mode of a window on an X server without a window manager, to which SDL leaves the mode.
///
/// Windows have no borders there, and are shown at the position and with the size that they request.
///
/// SDL requires that it is used only on the main thread.
final class UnmanagedScreen {
    /// The position and size of the window before full screen mode, in points; `nil` outside of it.
    private var formerFrame: SDL_Rect?

    /// A Boolean value that indicates whether the window covers the screen.
    var isActive: Bool { formerFrame != nil }

    /// Covers the screen that contains the center of a window.
    func enter(with window: OpaquePointer) {
        var bounds = SDL_Rect()
        guard formerFrame == nil, SDL_GetDisplayBounds(max(0, SDL_GetWindowDisplayIndex(window)), &bounds) == 0 else {
            return
        }
        var (x, y, width, height) = (Int32(0), Int32(0), Int32(0), Int32(0))
        SDL_GetWindowPosition(window, &x, &y)
        SDL_GetWindowSize(window, &width, &height)
        formerFrame = SDL_Rect(x: x, y: y, w: width, h: height)
        place(window, bounds)
    }

    /// Restores the position and size that a window had before full screen mode.
    func leave(with window: OpaquePointer) {
        guard let frame = formerFrame else { return }
        formerFrame = nil
        place(window, frame)
    }

    private func place(_ window: OpaquePointer, _ frame: SDL_Rect) {
        SDL_SetWindowSize(window, frame.w, frame.h)
        SDL_SetWindowPosition(window, frame.x, frame.y)
    }
}
