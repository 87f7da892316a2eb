import CSDL2
import Synchronization

/// The parts of SDL that are in use: they are shared by everything in the process.
enum SDLRuntime {
    private static let lock = Mutex(())

    /// Switches a part on; each call needs one of ``release(_:)``.
    ///
    /// - Throws: The message of SDL.
    static func require(_ part: UInt32) throws(Failure) {
        let message = lock.withLock { _ -> String? in
            // Whoever runs the process decides about its signals, not a library.
            SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1")
            SDL_SetHint(SDL_HINT_AUDIO_RESAMPLING_MODE, "2")
            SDL_SetMainReady()
            return SDL_InitSubSystem(part) == 0 ? nil : lastError
        }
        if let message { throw Failure(message: message) }
    }

    static func release(_ part: UInt32) { lock.withLock { _ in SDL_QuitSubSystem(part) } }

    /// What SDL says about the last failure on this thread.
    static var lastError: String { String(cString: SDL_GetError()) }

    struct Failure: Error { let message: String }
}
