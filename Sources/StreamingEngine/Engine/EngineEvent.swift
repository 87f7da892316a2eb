import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

/// An input of ``EngineState``.
enum EngineEvent: Sendable {
    /// The current state of the pipeline and the network; it leads to no effect by itself.
    case observed(EngineObservation)
    /// The engine was started.
    case started
    /// The address of the item returned a playlist or the beginning of a file.
    case opened(OpenedSource, ResourceRequest)
    /// The index of a media file was read.
    case fileIndexed(OpenedFile, Presentation, ResourceAddress)
    /// The address of the item was loaded again, or could not be loaded.
    case reopened(request: Int, Result<Presentation, StreamingError>, ResourceRequest?)
    /// The steering manifest was loaded, or could not be loaded.
    case steeringManifestReceived(request: Int, Result<SteeringManifest, StreamingError>, ResourceRequest?)
    /// The item could not be opened.
    ///
    /// The request is the one that failed, if the cause was a request.
    case openingFailed(StreamingError, ResourceRequest?)
    /// A request for a media playlist was answered, or failed.
    case playlistReceived(request: Int, PlaylistResponse)
    /// A request for a segment was answered, or failed.
    case segmentReceived(request: Int, Result<SegmentLoader.Loaded, any Error>, TransferProgress)
    /// The progress of a transfer was measured.
    case transferMeasured(request: Int, TransferProgress)
    /// A transfer was canceled.
    case transferCancelled(request: Int, TransferProgress)
    /// The pipeline accepted or refused media.
    case appended(request: Int, Result<MediaTimeRange, any Error>)
    /// The pipeline performed its current command.
    case pipelineFinished(PipelineResult)
    /// An event that the pipeline reported on its own.
    case pipelineReported(MediaPipelineEvent)
    /// Requests for keys and initialization sections ended, or failed attempts are repeated.
    case requestsCompleted([(ResourceRequest, TransportError?)])
    /// The time of ``EngineState/nextDeadline`` was reached.
    case timerFired
    /// A command of the application.
    case command(EngineCommand)
    /// The engine was canceled or the item failed, and nothing is in progress any more.
    case stopped
}

/// A command of the application; `waiter` identifies the caller that awaits the result.
enum EngineCommand: Sendable {
    case setRate(Double, reason: RateChange.Reason, atOnce: Bool)
    case setRateSynchronized(Double, from: MediaTime?, at: Duration, waiter: Int)
    case seek(to: MediaTime, SeekTolerance, waiter: Int)
    case seekToDate(ProgramDateTime, SeekTolerance, waiter: Int)
    case step(count: Int, waiter: Int)
    case cancelPendingSeeks
    case select(MediaSelectionOption?, Rendition.MediaType)
    case update(StreamingOptions)
}

/// The state of the pipeline and the network at the time of an event.
struct EngineObservation: Sendable {
    var timebase = Timebase()
    var frameCounts = FrameCounts()
    var videoSize: VideoSize?
    var abilities = MediaPipelineCapabilities()
    var networkCost: NetworkCost?
    /// The bytes of the segments that are being loaded.
    var unfinishedBytes = ByteCount.zero
}

/// The content at the address of an item.
enum OpenedSource: Sendable {
    /// A multivariant playlist, or a media playlist, which is also passed as `media`.
    case presentation(Presentation, media: MediaPlaylist?, ResourceAddress)
    /// The beginning of a media file, and its length if it is known.
    case file(head: [UInt8], ResourceAddress, length: Int64?)
}

/// The response to a request for a media playlist.
struct PlaylistResponse: Sendable {
    /// The request for the logs; `nil` if it failed with an error other than a `TransportError`.
    let request: ResourceRequest?
    let result: Result<MediaPlaylist, StreamingError>
}

/// The progress of a transfer.
struct TransferProgress: Sendable {
    /// The measurement of the bytes received so far; `nil` before the response.
    let measurement: TransferMeasurement?
    /// The length that the server declares; `nil` if it declares none.
    let expectedBytes: Int64?
    /// The time at which the last attempt was sent; `nil` if that is the start of the transfer.
    var attemptStart: Duration?
}

/// The result of a ``PipelineCommand``.
enum PipelineResult: Sendable {
    /// The command has no result.
    case done
    /// The playhead was moved, or could not be moved.
    case sought(seek: Int, Result<MediaTime, any Error>)
    /// The rate was set.
    case rateSet
    /// A step ended; `landed` is the position of the playhead, or `nil` if there was no frame to show.
    case stepped(landed: MediaTime?, waiter: Int)
    /// The I-frames of trick play were removed.
    case trickPlayDiscarded
}
