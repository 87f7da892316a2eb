public import AssetStorage
import Foundation
public import MediaTiming
public import MediaTransport
import NIOCore
import NIOPosix
public import ResourceAddressing

/// A download of an asset to a library.
///
/// Stored files are not fetched again, so that a new task continues where the previous one stopped, even if its process
/// was killed.
public struct DownloadTask: Sendable {
    /// The options of a download.
    public struct Options: Sendable {
        /// The variants and renditions to download.
        public var selection: DownloadSelection
        /// The title to display; derived from the URL by default.
        public var title: String?
        /// The maximum number of files that are fetched concurrently; a value outside of 1...64 is clamped.
        public var maximumConcurrentFetches: Int {
            didSet { maximumConcurrentFetches = Self.clamped(jobs: maximumConcurrentFetches) }
        }
        /// The size limits of the download.
        public var limits: DownloadLimits
        /// The maximum rate at which the bytes of all files are received; `nil` for no limit.
        ///
        /// Below 500 kbit/s for each concurrent fetch, fewer fetches run concurrently, because a server may close a
        /// connection that is too slow.
        public var maximumRate: BitRate?
        /// A function that returns whether a codec (RFC 6381) can be decoded on this machine.
        ///
        /// The variants that can be decoded are preferred, as described by ``DownloadSelection/Variants``. By default,
        /// all codecs count as decodable.
        public var canDecode: @Sendable (_ codec: String) -> Bool = { _ in true }

        private static func clamped(jobs: Int) -> Int { min(max(jobs, 1), 64) }

        /// Creates options.
        ///
        /// - Parameters:
        ///   - selection: The variants and renditions to download; by default the best variant with all audio and
        ///     subtitles.
        ///   - title: The title to display; derived from the URL by default.
        ///   - maximumConcurrentFetches: The maximum number of concurrent fetches; 6 by default, as in browsers, because a server may treat
        ///     many connections from one client as an attack.
        ///   - limits: The size limits of the download.
        public init(
            selection: DownloadSelection = DownloadSelection(),
            title: String? = nil,
            maximumConcurrentFetches: Int = 6,
            limits: DownloadLimits = DownloadLimits()
        ) {
            self.selection = selection
            self.title = title
            self.maximumConcurrentFetches = Self.clamped(jobs: maximumConcurrentFetches)
            self.limits = limits
        }
    }

    /// An event of a download.
    public enum Event: Sendable {
        /// The playlists are loaded, and the files to download are known.
        case resolved(id: String, DownloadProgress)
        /// The progress changed.
        case progress(id: String, DownloadProgress)
        /// All files are stored.
        case completed(StoredAsset)
    }

    /// The URL of the source playlist.
    public let source: ResourceAddress
    private let library: AssetLibrary
    private let loader: ResourceLoader
    private let options: Options
    private let time: any TimeSource

    /// Creates a task; the download starts with ``run(_:)``.
    public init(
        _ source: ResourceAddress,
        into library: AssetLibrary,
        loader: ResourceLoader,
        options: Options = Options(),
        time: any TimeSource = SystemTimeSource()
    ) {
        self.source = source
        self.library = library
        self.loader = loader
        self.options = options
        self.time = time
    }

    /// Creates a task for an asset that can be played at the same time; the download starts with ``run(_:)``.
    ///
    /// - Parameters:
    ///   - asset: The asset to download; its loader provides the header fields, cookies, and connections.
    ///   - library: The library to store the asset in.
    ///   - options: The options of the download.
    ///   - time: The clock for progress reports.
    public init(
        _ asset: some LoadableAsset,
        into library: AssetLibrary,
        options: Options = Options(),
        time: any TimeSource = SystemTimeSource()
    ) {
        self.init(asset.address, into: library, loader: asset.loader, options: options, time: time)
    }

    /// The interval between progress reports.
    private static let progressInterval = Duration.milliseconds(200)
    /// The number of bytes that are collected before they are written on another thread.
    private static let writeSize = 256 << 10
    /// The maximum number of attempts to create the asset if it is deleted at the same time.
    private static let maximumCreationAttempts = 3

    /// Downloads the missing files of the asset.
    ///
    /// - Parameter report: A closure that is called with each event, in order; it must not block.
    /// - Returns: The complete asset.
    /// - Throws: ``DownloadError``; `CancellationError` when canceled. In both cases, the files that were fetched stay
    ///   stored.
    @discardableResult
    public func run(_ report: @escaping @Sendable (Event) -> Void = { _ in }) async throws -> StoredAsset {
        do {
            return try await fetchAll(report)
        } catch let error as StorageError {
            throw DownloadError(error)
        } catch let error as TransportError {
            throw DownloadError(error)
        }
    }

    private func fetchAll(_ report: @escaping @Sendable (Event) -> Void) async throws -> StoredAsset {
        var resolver = DownloadResolver(
            loader: loader,
            selection: options.selection,
            playlistSize: options.limits.playlistSize,
            canDecode: options.canDecode
        )
        var resolution = try await resolver.resolve(source)
        let (id, lock) = try createAsset()
        defer { withExtendedLifetime(lock) {} }
        var renewal = DownloadRenewal()
        resolver.bypassesCache = true
        while true {
            let (meter, hasAll) = try await fetchFiles(of: resolution, for: id, &renewal, report)
            if hasAll {
                let complete = try await NIOThreadPool.singleton.runIfActive { [library] in
                    try library.finish(id)
                    return try library.asset(id)
                }
                report(.progress(id: id, meter.progress))
                report(.completed(complete))
                return complete
            }
            resolution = try await resolver.resolve(source)
        }
    }

    /// Adds the files of a resolution to the catalog and fetches those that are missing.
    ///
    /// - Returns: The progress, and whether all files are stored; otherwise their addresses have expired, and the
    ///   playlists must be loaded again.
    private func fetchFiles(
        of resolution: DownloadResolver.Resolution,
        for id: String,
        _ renewal: inout DownloadRenewal,
        _ report: @escaping @Sendable (Event) -> Void
    ) async throws -> (meter: ProgressMeter, hasAll: Bool) {
        // This runs on a blocking thread, because it processes all files, and a playlist may name a million.
        let (asset, missing) = try await NIOThreadPool.singleton.runIfActive { [library] in
            try library.planDownload(
                of: id,
                source: resolution.playlist,
                at: resolution.address,
                renditions: resolution.renditions
            )
            try library.removeMissingFilesFromCatalog(id)
            return (try library.asset(id), try library.missingCount(id))
        }
        let meter = ProgressMeter(ProgressCounter(asset, missing: missing))
        let budget = DownloadBudget(asset, in: library, options.limits)
        if renewal.isFirstRound { report(.resolved(id: id, meter.progress)) }
        renewal.beginRound()
        // The task is canceled at the end of this scope.
        async let _: Void = reportProgress(meter, of: id, report)
        try await fetchMissing(of: id, meter, budget, &renewal)
        return (meter, !renewal.isNeeded)
    }

    /// Creates the catalog entry of the asset and locks it.
    private func createAsset() throws -> (id: String, lock: PackageLock) {
        var attempt = 1
        while true {
            let title = options.title ?? defaultTitle
            let id = try library.addAsset(source: source, title: title, selection: options.selection.description)
            do {
                return (id, try library.lock(id))
            } catch let error as StorageError where error.code == .notFound && attempt < Self.maximumCreationAttempts {
                // Another task deleted the asset before it was locked, so it is created again.
                attempt += 1
            }
        }
    }

    /// Reports changes of the progress at a regular interval, whether or not files are finished, until the task is
    /// canceled.
    private func reportProgress(
        _ meter: ProgressMeter,
        of id: String,
        _ report: @escaping @Sendable (Event) -> Void
    ) async {
        var reported = meter.progress
        while (try? await time.sleep(for: Self.progressInterval)) != nil {
            let progress = meter.progress
            guard progress != reported else { continue }
            reported = progress
            report(.progress(id: id, progress))
        }
    }

    /// Fetches the missing files, until the addresses of some have expired.
    private func fetchMissing(
        of id: String,
        _ meter: ProgressMeter,
        _ budget: DownloadBudget,
        _ renewal: inout DownloadRenewal
    ) async throws {
        var queue = FetchQueue(policy: loader.policy)
        let commits = CommitQueue(library)
        let limit = options.maximumRate.map { RateLimit($0) }
        let limiter = limit.map { RateLimiter($0, time: time) }
        let fetchCount = limit?.fetchCount(atMost: options.maximumConcurrentFetches) ?? options.maximumConcurrentFetches
        var firstError: (any Error)?
        try await withThrowingTaskGroup(of: (StoredResource, Result<ByteCount, any Error>).self) { group in
            var running = 0
            fetching: while true {
                filling: while running < fetchCount {
                    switch queue.next() {
                    case .fetch(let resource):
                        running += 1
                        group.addTask(executorPreference: loader.transport.executor) {
                            let fetched = await Result<ByteCount, any Error>.catching {
                                let file = try await fetch(resource, of: id, meter, budget, limiter)
                                try await commits.commit(WrittenFile(resource, file))
                                return ByteCount(file.count)
                            }
                            return (resource, fetched)
                        }
                    case .readNextPage(let last):
                        queue.append(
                            try await NIOThreadPool.singleton.runIfActive { [library] in
                                try library.missingResources(id, after: last)
                            }
                        )
                    case .wait: break filling
                    case .finish, .fail: break fetching
                    }
                }
                guard let (resource, result) = try await group.next() else { break }
                running -= 1
                switch result {
                case .success(let bytes):
                    meter.addStoredFile(resource, bytes: bytes)
                    queue.fetchSucceeded()
                case .failure(let error):
                    // Other errors, such as a full disk or a cancellation, end the download immediately.
                    guard let error = error as? TransportError else { throw error }
                    if renewal.renewsAddresses(after: error, of: resource) {
                        queue.end()
                    } else {
                        firstError = firstError ?? error
                        queue.fetchFailed()
                    }
                }
            }
        }
        if let firstError, !renewal.isNeeded { throw firstError }
    }

    private var defaultTitle: String {
        // The title is displayed, so it must not contain a secret; the description of a URL has none.
        let path = ResourceAddress(source.description).path
        let parts = path.split(separator: "/").map { PercentEncoding.decode(String($0)) ?? String($0) }
        let name = parts.last ?? source.host ?? source.description
        // A name such as "multivariant.m3u8" is not descriptive; the name of its directory is used instead.
        let isGeneric = ["multivariant", "master", "index", "playlist", "main", "prog_index"].contains {
            name.lowercased().hasPrefix($0)
        }
        return isGeneric && parts.count > 1 ? parts[parts.count - 2] : name
    }

    /// Fetches a file; its content is then on the disk, but not yet in the catalog.
    private func fetch(
        _ resource: StoredResource,
        of id: String,
        _ meter: ProgressMeter,
        _ budget: DownloadBudget,
        _ limiter: RateLimiter?
    ) async throws -> PackageFile {
        let request = TransportRequest(
            resource.address,
            kind: TransportRequest.Kind(resource.kind),
            byteRange: resource.byteRange
        )
        return try await loader.send(request) { response in
            try budget.checkBeforeWriting(resource, announced: response.expectedLength, at: response.address)
            let file = library.makePackageFile(for: resource, of: id)
            // Received bytes count as progress until the file is stored or abandoned.
            let fileID = meter.beginFile()
            defer { meter.endFile(fileID) }
            var received: Int64 = 0
            do {
                try await write(response, to: file) { count in
                    try check(count, resource, response)
                } received: { count in
                    received +|= Int64(clamping: count)
                    try budget.check(received, of: resource, at: response.address)
                    try budget.addBytes(Int64(clamping: count))
                    meter.addBytes(count, to: fileID)
                    try await limiter?.waitAfterReceiving(count)
                }
            } catch {
                budget.subtractBytes(received)
                // This is not done on another thread, because the thread pool would not run it after a cancellation.
                file.discard()
                throw error
            }
            return file
        }
    }

    private func write(
        _ response: TransportResponse,
        to file: PackageFile,
        check: @Sendable @escaping (Int64) throws -> Void,
        received: (Int) async throws -> Void
    ) async throws {
        var pending = ByteBuffer()
        for try await var buffer in response.body {
            try await received(buffer.readableBytes)
            if pending.readableBytes == 0 { pending = buffer } else { pending.writeBuffer(&buffer) }
            if pending.readableBytes >= Self.writeSize {
                let full = pending
                try await NIOThreadPool.singleton.runIfActive {
                    try full.withUnsafeReadableBytes { try file.write($0) }
                }
                pending = ByteBuffer()
            }
        }
        let rest = pending
        try await NIOThreadPool.singleton.runIfActive {
            try rest.withUnsafeReadableBytes { try file.write($0) }
            try check(file.count)
            try file.finish()
        }
    }

    private func check(_ count: Int64, _ resource: StoredResource, _ response: TransportResponse) throws {
        if let range = resource.byteRange, count != range.length {
            throw TransportError(
                .wrongContent,
                "the server sent \(count) bytes instead of the requested \(range.length)",
                address: response.address
            )
        }
        if resource.kind == .key, count != DownloadBudget.keySize {
            throw TransportError(
                .wrongContent,
                "the key has \(count) bytes instead of 16",
                address: response.address
            )
        }
    }
}

extension Result where Failure == any Error {
    fileprivate static func catching(_ body: () async throws -> Success) async -> Self {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}

extension TransportRequest.Kind {
    init(_ kind: StoredResource.Kind) {
        self =
            switch kind {
            case .segment: .segment
            case .initialization: .initialization
            case .key: .key
            case .subtitle: .subtitle
            }
    }
}
