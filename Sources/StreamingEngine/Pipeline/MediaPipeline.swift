public import MediaTiming
public import PlaybackReporting

/// What turns media into pictures and sound in time: the seam between what is fetched and what is shown.
///
/// It holds what was appended until it is discarded, and owns the play head: only it knows what was really shown. One
/// session at a time calls it.
public protocol MediaPipeline: Sendable {
    /// Whether media with these codecs (RFC 6381) can be decoded; an empty list says that none were named.
    func canDecode(_ codecs: [String]) -> Bool

    /// Takes a piece.
    ///
    /// Pieces of one type come in the order of their times, except after a seek; where two overlap, the later one to come holds.
    ///
    /// - Returns: What it really covers, in the time of the item.
    /// - Throws: ``MediaPipelineError``.
    func append(_ piece: MediaPiece) async throws -> MediaTimeRange

    /// Forgets media of a type.
    func discard(_ type: MediaType, in range: MediaTimeRange) async

    /// Moves the play head to where media is, and shows what is there.
    ///
    /// - Returns: Where it landed, within the tolerance.
    /// - Throws: ``MediaPipelineError`` where nothing can be shown there.
    func seek(to time: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime

    /// Lets the play head move, from now on, or from a real time that is still to come.
    func setRate(_ rate: Double, at time: Duration?) async

    /// Shows another picture while the play head stands.
    ///
    /// - Parameter count: How many frames further on; below zero for those before.
    /// - Returns: Where the play head is then; `nil` where there is no such picture.
    func step(by count: Int) async -> MediaTime?

    /// Looks for captions that lie in the pictures.
    ///
    /// - Parameter channel: `CC1` to `CC4` or `SERVICE1` to `SERVICE63`, as `INSTREAM-ID` has it; `nil` for none.
    func selectCaptions(_ channel: String?) async

    /// Lets a type of media be seen or heard, or not, while time goes on.
    func setEnabled(_ type: MediaType, _ isEnabled: Bool) async

    /// Says how sound is to be heard.
    func setSound(_ settings: SoundSettings) async

    /// What it can do besides playing forwards.
    var abilities: MediaPipelineAbilities { get }

    /// Where the play head is, and how it moves.
    var timebase: Timebase { get }

    /// Frames so far.
    var frameCounts: FrameCounts { get }

    /// What happens inside, as it happens; one caller reads it.
    var events: AsyncStream<MediaPipelineEvent> { get }

    /// Does what has to be done while time passes, until the task is cancelled; called once.
    func run() async

    /// Ends everything; nothing is called afterwards.
    func close() async
}

extension MediaPipeline {
    /// Nothing.
    public func run() async {}

    /// There are no pictures that could hold any.
    public func selectCaptions(_ channel: String?) async {}

    /// Nothing is seen or heard anyway.
    public func setEnabled(_ type: MediaType, _ isEnabled: Bool) async {}

    /// Nothing is heard anyway.
    public func setSound(_ settings: SoundSettings) async {}

    /// There are no pictures to step to.
    public func step(by count: Int) async -> MediaTime? { nil }

    /// Nothing.
    public var abilities: MediaPipelineAbilities { MediaPipelineAbilities() }
}

/// What a pipeline can do besides playing forwards.
public struct MediaPipelineAbilities: Sendable, Hashable {
    /// Whether the play head may go towards the start.
    public var playsBackward: Bool
    /// Whether it goes on by single frames.
    public var steps: Bool
    /// Whether single tracks can be turned off, also those that share segments.
    public var disablesTracks: Bool
    /// At which rates everything is shown and heard; at others only pictures that stand alone are, and no sound.
    public var fullRates: ClosedRange<Double>

    /// Makes abilities; none by default, and everything shown at all rates.
    public init(
        playsBackward: Bool = false,
        steps: Bool = false,
        disablesTracks: Bool = false,
        fullRates: ClosedRange<Double> = -.infinity ... .infinity
    ) {
        self.disablesTracks = disablesTracks
        self.fullRates = fullRates
        self.playsBackward = playsBackward
        self.steps = steps
    }
}

/// What happens in a pipeline without being asked for.
public enum MediaPipelineEvent: Sendable, Hashable {
    /// The play head moves otherwise than was said: ``MediaPipeline/timebase`` tells how.
    case timebaseChanged
    /// The first picture after an append or a seek can be shown.
    case firstFrame
    /// What is played consists of other tracks.
    case tracksChanged([PlaybackTrack])
    /// The play head reached a message that came with the media; its time is that of the item.
    case timedMetadata(TimedMetadata)
    /// Media that was taken turned out not to be playable.
    case unplayable(MediaType, MediaTimeRange)
    /// The decoder or the sound device is gone.
    case failed(String)
}

/// Why a pipeline did not do what it was asked.
public struct MediaPipelineError: Error, Sendable, Hashable {
    /// What kind of failure.
    public enum Code: String, Sendable, Hashable {
        /// The bytes are no media, or damaged.
        case notDecodable
        /// There is no decoder for it.
        case unsupported
        /// Nothing is there to show.
        case nothingThere
        /// The decoder or the device is gone.
        case lost
    }

    /// What kind of failure.
    public let code: Code
    /// What happened.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
