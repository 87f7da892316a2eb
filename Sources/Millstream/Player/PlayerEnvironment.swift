public import MediaTiming
public import MediaTransport
import PlaybackReporting
public import ResourceAddressing
public import StreamingEngine

extension Player {
    /// The world that assets, items and players live in: where media comes from, what shows it, and what time it is.
    ///
    /// All that belong together share one. ``standard`` is the real one; applications change parts of it, and tests replace
    /// all of it.
    public struct Environment: Sendable {
        /// The clock that everything goes by.
        public var time: any TimeSource
        /// How an asset is loaded; asked once for each ``Asset``, before anything of it is loaded.
        public var makeLoading: @Sendable (ResourceAddress, AssetOptions) -> ResourceLoading
        /// Makes what decodes and shows an item; one for each item that is played or prepared.
        ///
        /// When it throws, the item fails and takes its player with it: there is nothing to play on.
        public var makePipeline: @Sendable () async throws -> any MediaPipeline
        /// Whether such a pipeline can decode a format, by its RFC 6381 name; asked when an asset is inspected.
        public var canDecode: @Sendable (_ codec: String) -> Bool
        /// Makes the name of a session for logs and headers: a UUID in its usual spelling.
        public var makeSessionID: @Sendable () -> String
        /// The date, as the time since 1970-01-01 00:00:00 UTC; read once a session.
        public var date: @Sendable () -> Duration
        /// Finds what is stored of an asset, without waiting for a network; finds nothing where nothing is set.
        public var findCache: @Sendable (ResourceAddress) -> AssetCache?

        /// What is known of the network, nothing by default.
        ///
        /// What it may be used for depends on it, and which variants are fetched.
        public var network = NetworkStatus()

        var makeEngine: PlaybackEngineFactory
        var inspect: AssetInspecting

        /// Makes an environment.
        ///
        /// - Parameters:
        ///   - time: The clock that everything goes by, and the pipelines too.
        ///   - makeLoading: How an asset is loaded.
        ///   - makePipeline: Makes what decodes and shows an item.
        ///   - canDecode: Whether such a pipeline can decode a format. Defaults to everything.
        ///   - makeSessionID: Makes the name of a session for logs.
        ///   - date: The date, as the time since 1970-01-01 00:00:00 UTC.
        public init(
            time: any TimeSource,
            makeLoading: @escaping @Sendable (ResourceAddress, AssetOptions) -> ResourceLoading,
            makePipeline: @escaping @Sendable () async throws -> any MediaPipeline,
            canDecode: @escaping @Sendable (_ codec: String) -> Bool = { _ in true },
            makeSessionID: @escaping @Sendable () -> String,
            date: @escaping @Sendable () -> Duration
        ) {
            self.time = time
            self.makeLoading = makeLoading
            self.makePipeline = makePipeline
            self.canDecode = canDecode
            self.makeSessionID = makeSessionID
            self.date = date
            findCache = { _ in nil }
            makeEngine = { PlaybackEngine($0) }
            inspect = { try await AssetInspector($0, canDecode: $1, time: time).inspection() }
        }
    }
}

/// Makes the engine of an item.
typealias PlaybackEngineFactory = @Sendable (PlaybackEngineRequest) -> any ItemEngine
/// Finds out what an asset is, told what can be decoded.
typealias AssetInspecting =
    @Sendable (AssetRequest, _ canDecode: @escaping @Sendable (String) -> Bool) async throws ->
    AssetInspection

/// Which asset, and how to reach it.
struct AssetRequest: Sendable {
    let address: ResourceAddress
    let options: AssetOptions
    let loading: ResourceLoading
}

/// What an engine is made of.
struct PlaybackEngineRequest: Sendable {
    let asset: AssetRequest
    let pipeline: any MediaPipeline
    let options: StreamingOptions
    let time: any TimeSource
    let session: PlaybackSession
    let observer: @Sendable (PlaybackEngineOutput) -> Void
}

extension PlaybackEngine {
    /// Makes the engine that was asked for.
    init(_ request: PlaybackEngineRequest) {
        self.init(
            source: request.asset.address,
            mimeType: request.asset.options.overrideMIMEType,
            loading: request.asset.loading,
            pipeline: request.pipeline,
            options: request.options,
            time: request.time,
            session: request.session,
            observer: request.observer
        )
    }
}
