public import MediaTiming
import Synchronization

/// The delays of audio and subtitles against the video of a player.
///
/// They correct media whose tracks are not synchronized, and devices that delay the audio. A change applies at once, and to
/// all items that are played later.
public final class OutputDelays: Sendable {
    /// The limit of a delay in either direction.
    public static let limit = MediaTime(seconds: 10)

    private struct State {
        var audio = MediaTime.zero
        var subtitles = MediaTime.zero
        var observers: [@Sendable () -> Bool] = []
    }

    private let state = Mutex(State())

    /// Creates delays of zero.
    public init() {}

    /// The time by which audio is heard later than its media time says, earlier if negative; zero by default.
    ///
    /// A value over ``limit`` is set to it.
    public var audio: MediaTime {
        get { state.withLock { $0.audio } }
        set { change { $0.audio = Self.limited(newValue) } }
    }

    /// The time by which subtitles are shown later than their media time says, earlier if negative; zero by default.
    ///
    /// A value over ``limit`` is set to it. Closed captions in the video are shown with their frames.
    public var subtitles: MediaTime {
        get { state.withLock { $0.subtitles } }
        set { change { $0.subtitles = Self.limited(newValue) } }
    }

    /// Adds a function that is called after a change, until it returns false.
    func addObserver(_ observer: @escaping @Sendable () -> Bool) { state.withLock { $0.observers.append(observer) } }

    private func change(_ body: (inout State) -> Void) {
        let observers = state.withLock { state in
            body(&state)
            defer { state.observers = [] }
            return state.observers
        }
        let remaining = observers.filter { $0() }
        state.withLock { $0.observers += remaining }
    }

    private static func limited(_ delay: MediaTime) -> MediaTime { max(.zero - limit, min(limit, delay)) }
}
