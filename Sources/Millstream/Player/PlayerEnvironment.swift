public import MediaTiming
public import MediaTransport
import PlaybackReporting
import PresentationLoading
public import ResourceAddressing
package import StreamingEngine

#if Playback
public import MediaDecoding
#endif

extension Player {
    /// The dependencies of assets, items and players: the loading of media, the media pipeline, and the clock.
    ///
    /// Assets, items and players that are used together share one environment. ``standard`` uses the system;
    /// applications can replace parts of it, and tests can replace all of it.
    public struct Environment: Sendable {
        /// The clock for all timing.
        public var time: any TimeSource
        /// A closure that creates the resource loading of an asset; called once for each ``Asset``, when it is created.
        public var makeLoading: @Sendable (ResourceAddress, AssetOptions) -> ResourceLoader
        /// A closure that creates the pipeline which decodes and renders an item, called each time an item is prepared;
        /// `nil` for the pipelines of the environment.
        ///
        /// If it throws, both the item and its player fail.
        package var makePipeline: (@Sendable () async throws -> any MediaPipeline)?
        /// A closure that returns whether the pipeline can decode a codec, given in the form of RFC 6381.
        ///
        /// It is called when an asset is inspected.
        public var canDecode: @Sendable (_ codec: String) -> Bool
        /// A closure that creates a session identifier for logs and header fields: a UUID as a string.
        public var makeSessionID: @Sendable () -> String
        /// A closure that returns the current date, as the time since 1970-01-01 00:00:00 UTC; called once per session.
        public var date: @Sendable () -> Duration
        /// A closure that returns the stored part of an asset without using the network; by default it returns `nil`.
        public var findCache: @Sendable (ResourceAddress) -> AssetCache?

        /// The status of the network; by default unknown.
        ///
        /// It affects whether assets may be loaded and which variants are chosen; see
        /// ``AssetOptions/allowsExpensiveNetworkAccess`` and ``PlayerItem/preferredPeakBitRateForExpensiveNetworks``.
        public var network = NetworkStatus()
        /// The throughput of the networks that were used before; `nil`, the default, starts each item without an
        /// estimate.
        public var throughputHistory: ThroughputHistory?

        #if Playback
        /// The options for decoding video.
        public var videoDecoding = VideoDecodingOptions()
        /// The executor that decodes; `nil`, the default, for a dedicated thread for each item.
        ///
        /// In simulated time, it has to be the executor that runs everything else.
        public var decodingExecutor: (any SerialExecutor)?

        /// The outputs for which items are decoded, unless ``makePipeline`` is set.
        var outputs = Outputs.none
        #endif

        var makeEngine: PlaybackEngineFactory
        var inspect: AssetInspectionFunction

        /// Creates an environment in which nothing is decoded.
        ///
        /// - Parameters:
        ///   - time: The clock for all timing, including that of the pipelines.
        ///   - makeLoading: Creates the loading of an asset.
        ///   - canDecode: Returns whether the pipeline can decode a codec. By default it returns `true`.
        ///   - makeSessionID: Creates a session identifier for logs.
        ///   - date: Returns the current date, as the time since 1970-01-01 00:00:00 UTC.
        public init(
            time: any TimeSource,
            makeLoading: @escaping @Sendable (ResourceAddress, AssetOptions) -> ResourceLoader,
            canDecode: @escaping @Sendable (_ codec: String) -> Bool = { _ in true },
            makeSessionID: @escaping @Sendable () -> String,
            date: @escaping @Sendable () -> Duration
        ) {
            self.time = time
            self.makeLoading = makeLoading
            self.canDecode = canDecode
            self.makeSessionID = makeSessionID
            self.date = date
            findCache = { _ in nil }
            makeEngine = { PlaybackEngine($0) }
            inspect = { try await AssetInspector($0, canDecode: $1, time: time).inspection() }
        }
    }
}

extension Player.Environment {
    /// The options for loading DASH presentations.
    var presentationOptions: PresentationOptions {
        var options = PresentationOptions(time: time, date: date)
        // The player reads the events from the segments that it plays.
        options.readsSegmentEvents = false
        return options
    }
}

/// A closure that creates the engine of an item.
typealias PlaybackEngineFactory = @Sendable (PlaybackEngineRequest) -> any ItemEngine
/// A closure that inspects an asset, with a function that returns whether a codec can be decoded.
typealias AssetInspectionFunction =
    @Sendable (AssetRequest, _ canDecode: @escaping @Sendable (String) -> Bool) async throws ->
    AssetInspection

/// The address of an asset, its options and its loading.
struct AssetRequest: Sendable {
    let address: ResourceAddress
    let options: AssetOptions
    let loader: ResourceLoader
}

/// The parameters for the creation of an engine.
struct PlaybackEngineRequest: Sendable {
    let asset: AssetRequest
    let pipeline: any MediaPipeline
    let options: StreamingOptions
    let time: any TimeSource
    let session: PlaybackSession
    let observer: @Sendable (PlaybackEngineOutput) -> Void
}

extension PlaybackEngine {
    /// Creates an engine from a request.
    init(_ request: PlaybackEngineRequest) {
        var options = request.options
        options.recovery = request.asset.loader.policy
        self.init(
            source: request.asset.address,
            mimeType: request.asset.options.overrideMIMEType,
            loading: request.asset.loader,
            pipeline: request.pipeline,
            options: options,
            time: request.time,
            session: request.session,
            observer: request.observer
        )
    }
}
