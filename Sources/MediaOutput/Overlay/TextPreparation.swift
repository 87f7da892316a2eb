import Foundation
import Synchronization

/// Gets the fonts ready beside the playing: reading their list can take a second, for which the picture would stand.
final class TextPreparation: Sendable {
    // Safe: the renderer is made by one thread, which lets go of it, and taken by one other, once.
    private struct Parcel: @unchecked Sendable {
        let text: TextRenderer
    }

    private enum State {
        case idle
        case working
        case ready(Parcel)
        case failed(OutputError)
    }

    private let state = Mutex(State.idle)
    private let onEnd: @Sendable () -> Void

    /// Makes a preparation that was not begun.
    ///
    /// - Parameter onEnd: Called on a thread of its own when it is done or has failed.
    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    /// Begins, once.
    func begin() {
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .working
            return true
        }
        guard isFirst else { return }
        Thread.detachNewThread { [self] in
            do throws(OutputError) {
                let text = try TextRenderer()
                text.openFonts()
                let parcel = Parcel(text: text)
                state.withLock { $0 = .ready(parcel) }
            } catch {
                state.withLock { $0 = .failed(error) }
            }
            onEnd()
        }
    }

    /// Hands the renderer over, once; `nil` while there is none.
    ///
    /// - Throws: ``OutputError``, once, where there will be none.
    func take() throws(OutputError) -> TextRenderer? {
        let (parcel, failure) = state.withLock { state -> (Parcel?, OutputError?) in
            switch state {
            case .idle, .working: return (nil, nil)
            case .ready(let parcel):
                state = .working
                return (parcel, nil)
            case .failed(let error):
                state = .working
                return (nil, error)
            }
        }
        if let failure { throw failure }
        return parcel?.text
    }
}
