public import MediaTiming
public import PlaybackReporting
import ResourceAddressing

/// The interface between loading and presentation: it decodes media and presents video and audio in time.
///
/// A pipeline keeps appended media until it is discarded. It owns the playback position, because only the pipeline
/// knows which media was actually presented. It is used by one session at a time.
package protocol MediaPipeline: Sendable {
    /// Returns whether media with these codecs (RFC 6381) can be decoded; an empty array means that no codecs are
    /// declared.
    func canDecode(_ codecs: [String]) -> Bool

    /// Appends a piece.
    ///
    /// Pieces of one media type are appended in the order of their times, except after a seek. If two overlap, the one
    /// that was appended later replaces the other.
    ///
    /// - Returns: The time range that the piece actually covers, in the time of the item.
    /// - Throws: ``MediaPipelineError``.
    func append(_ segment: PipelineSegment) async throws -> MediaTimeRange

    /// Removes the media of a type in a time range.
    func discard(_ type: MediaType, in range: MediaTimeRange) async

    /// Moves the playback position to appended media, and shows the video frame at that position.
    ///
    /// - Returns: The actual position, within the tolerance.
    /// - Throws: ``MediaPipelineError`` if there is no media at that position.
    func seek(to time: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime

    /// Sets the playback rate, immediately or at a time in the future.
    func setRate(_ rate: Double, at time: Duration?) async

    /// Shows another video frame while playback is paused.
    ///
    /// - Parameter count: The number of frames to move forward; negative to move backward.
    /// - Returns: The new playback position, or `nil` if there is no such frame.
    func step(by count: Int) async -> MediaTime?

    /// Selects closed captions in the video.
    ///
    /// - Parameter channel: The value of `INSTREAM-ID`, `CC1` to `CC4` or `SERVICE1` to `SERVICE63`; `nil` for none.
    func selectCaptions(_ channel: String?) async

    /// Selects a track of the media file that is played.
    ///
    /// - Parameters:
    ///   - track: The track; `nil` for the first audio track, or for no subtitles.
    ///   - type: The media type: audio or subtitles.
    func selectTrack(_ track: FileTrack?, of type: MediaType) async

    /// Enables or disables the presentation of a media type; time continues while it is disabled.
    func setEnabled(_ type: MediaType, _ isEnabled: Bool) async

    /// Sets the volume and the pitch algorithm of audio.
    func setAudio(_ settings: AudioSettings) async

    /// The capabilities of the pipeline besides forward playback.
    var capabilities: MediaPipelineCapabilities { get }

    /// The current playback position and rate.
    var timebase: Timebase { get }

    /// The numbers of video frames processed so far.
    var frameCounts: FrameCounts { get }

    /// The size at which the current video frame is shown, in square pixels; `nil` if no video was decoded.
    var videoSize: VideoSize? { get }

    /// The events of the pipeline, which only one caller may read.
    var events: AsyncStream<MediaPipelineEvent> { get }

    /// Performs the work that is due as time passes, until the task is canceled; called once.
    func run() async

    /// Releases all resources; no other function is called afterwards.
    func close() async
}

extension MediaPipeline {
    /// Returns immediately.
    package func run() async {}

    /// `nil`; this default is for pipelines that decode no video.
    package var videoSize: VideoSize? { nil }

    /// Does nothing; this default is for pipelines without closed captions.
    package func selectCaptions(_ channel: String?) async {}

    /// Does nothing; this default is for pipelines that present no media.
    package func selectTrack(_ track: FileTrack?, of type: MediaType) async {}

    /// Does nothing; this default is for pipelines that present no media.
    package func setEnabled(_ type: MediaType, _ isEnabled: Bool) async {}

    /// Does nothing; this default is for pipelines without audio output.
    package func setAudio(_ settings: AudioSettings) async {}

    /// Returns `nil`; this default is for pipelines that cannot step.
    package func step(by count: Int) async -> MediaTime? { nil }

    /// No additional capabilities.
    package var capabilities: MediaPipelineCapabilities { MediaPipelineCapabilities() }
}

/// The capabilities of a pipeline besides forward playback.
public struct MediaPipelineCapabilities: Sendable, Hashable {
    /// A Boolean value that indicates whether reverse playback is supported.
    public var supportsReversePlayback: Bool
    /// A Boolean value that indicates whether stepping by single frames is supported.
    public var supportsStepping: Bool
    /// A Boolean value that indicates whether single tracks can be disabled, including those that share segments.
    public var supportsDisablingTracks: Bool
    /// The rates at which all media is presented; at other rates, only key frames are shown, without audio.
    public var fullPresentationRates: ClosedRange<Double>

    /// Creates capabilities; by default, no additional ones, and all media is presented at all rates.
    public init(
        supportsReversePlayback: Bool = false,
        supportsStepping: Bool = false,
        supportsDisablingTracks: Bool = false,
        fullPresentationRates: ClosedRange<Double> = -.infinity ... .infinity
    ) {
        self.supportsDisablingTracks = supportsDisablingTracks
        self.fullPresentationRates = fullPresentationRates
        self.supportsReversePlayback = supportsReversePlayback
        self.supportsStepping = supportsStepping
    }
}

/// An event of a pipeline that is not a direct result of a call.
public enum MediaPipelineEvent: Sendable, Hashable {
    /// The playback position moves differently from the set rate, as ``MediaPipeline/timebase`` indicates.
    case timebaseChanged
    /// The first video frame after an append or a seek can be shown.
    case firstFrame
    /// The size of the video frames changed, as with another variant.
    case videoSizeChanged
    /// The tracks of the played media changed.
    case tracksChanged([PlaybackTrack])
    /// The playback position reached timed metadata in the media; its time is that of the item.
    case timedMetadata(TimedMetadata)
    /// Appended media turned out not to be playable.
    case unplayable(MediaType, MediaTimeRange)
    /// The decoder or the audio device is no longer available.
    case failed(String)
}

/// An error of a pipeline.
package struct MediaPipelineError: MillstreamError, Hashable {
    /// The kinds of errors.
    package enum Code: String, ErrorCode {
        /// The bytes are not media, or are damaged.
        case notDecodable
        /// There is no decoder for the media.
        case unsupported
        /// There is no media at the position.
        case noMedia = "nothingThere"
        /// The decoder or the device is no longer available.
        case deviceLost = "lost"

        /// The code of the corresponding error of AVFoundation.
        package var number: Int? {
            switch self {
            case .notDecodable: -11_821
            case .unsupported: -11_833
            case .noMedia: -11_832
            case .deviceLost: -11_819
            }
        }
    }

    /// The kind of the error.
    package let code: Code
    /// A human-readable description of the error.
    package let message: String

    /// Creates an error.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
