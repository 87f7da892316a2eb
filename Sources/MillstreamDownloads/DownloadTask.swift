public import AssetStorage
import Foundation
public import MediaTiming
public import MediaTransport
import NIOCore
import NIOPosix
public import ResourceAddressing

/// One asset on its way into a library.
///
/// What is there already is not fetched again, so running a task anew goes on where the last one stopped, also after the
/// process was killed.
public struct DownloadTask: Sendable {
    /// How to go about it.
    public struct Options: Sendable {
        /// What of the presentation is kept.
        public var selection: DownloadSelection
        /// What people will call it; by default the last part of its address.
        public var title: String?
        /// How many files are fetched at once, 1 to 64.
        public var jobs: Int
        /// The budget of the download.
        public var limits: DownloadLimits

        /// Makes options.
        ///
        /// - Parameters:
        ///   - selection: Defaults to the best variant with all sound and text.
        ///   - title: Defaults to what the address suggests.
        ///   - jobs: Defaults to 6, as browsers do; a server may take many connections of one client as an attack.
        ///   - limits: The budget of the download.
        public init(
            selection: DownloadSelection = DownloadSelection(),
            title: String? = nil,
            jobs: Int = 6,
            limits: DownloadLimits = DownloadLimits()
        ) {
            self.selection = selection
            self.title = title
            self.jobs = min(max(jobs, 1), 64)
            self.limits = limits
        }
    }

    /// What happens on the way.
    public enum Event: Sendable {
        /// The playlists were loaded and it is known what will be kept.
        case resolved(id: String, DownloadProgress)
        /// More is there.
        case progress(id: String, DownloadProgress)
        /// Everything is there.
        case completed(StoredAsset)
    }

    /// Where it comes from.
    public let source: ResourceAddress
    private let library: AssetLibrary
    private let loading: ResourceLoading
    private let options: Options
    private let time: any TimeSource

    /// Makes a task; nothing happens before ``run(_:)``.
    public init(
        _ source: ResourceAddress,
        into library: AssetLibrary,
        loading: ResourceLoading,
        options: Options = Options(),
        time: any TimeSource = SystemTimeSource()
    ) {
        self.source = source
        self.library = library
        self.loading = loading
        self.options = options
        self.time = time
    }

    /// Makes a task for an asset that may be played at the same time; nothing happens before ``run(_:)``.
    ///
    /// - Parameters:
    ///   - asset: What is kept; it is loaded as it is for a player, with its header fields, cookies and connections.
    ///   - library: Where it is kept.
    ///   - options: How to go about it.
    ///   - time: The clock that progress is told by.
    public init(
        _ asset: some LoadableAsset,
        into library: AssetLibrary,
        options: Options = Options(),
        time: any TimeSource = SystemTimeSource()
    ) {
        self.init(asset.address, into: library, loading: asset.loading, options: options, time: time)
    }

    /// Progress is told this often, where there is any.
    private static let progressInterval = Duration.milliseconds(200)
    /// The number of bytes that are gathered before a thread is asked to write them.
    private static let writeSize = 256 << 10
    /// The number of times that an asset is entered that others delete at once.
    private static let entryAttempts = 3

    /// Fetches what is missing.
    ///
    /// - Parameter report: Told what happens, in order; it should return at once.
    /// - Returns: The asset, complete.
    /// - Throws: ``DownloadError``; `CancellationError` when cancelled. What was fetched stays either way.
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
        let resolution = try await DownloadResolver(
            loading: loading,
            selection: options.selection,
            playlistSize: options.limits.playlistSize
        ).resolve(source)
        let (id, lock) = try enter()
        defer { withExtendedLifetime(lock) {} }
        // Both walk over all files, and a playlist may name a million.
        let (asset, missing) = try await NIOThreadPool.singleton.runIfActive { [library] in
            try library.plan(
                id,
                source: resolution.playlist,
                at: resolution.address,
                renditions: resolution.renditions
            )
            try library.forgetLostFiles(id)
            return (try library.asset(id), try library.missingCount(id))
        }
        let meter = ProgressMeter(ProgressCounter(asset, missing: missing))
        let budget = DownloadBudget(asset, in: library, options.limits)
        report(.resolved(id: id, meter.progress))
        do {
            // It ends with this scope.
            async let _: Void = tell(meter, of: id, report)
            try await fetchMissing(of: id, meter, budget)
        }
        let complete = try await NIOThreadPool.singleton.runIfActive { [library] in
            try library.finish(id)
            return try library.asset(id)
        }
        report(.progress(id: id, meter.progress))
        report(.completed(complete))
        return complete
    }

    /// Enters the asset and reserves it.
    private func enter() throws -> (id: String, lock: PackageLock) {
        var attempt = 1
        while true {
            let title = options.title ?? defaultTitle
            let id = try library.enter(source: source, title: title, selection: options.selection.description)
            do {
                return (id, try library.lock(id))
            } catch let error as StorageError where error.code == .notFound && attempt < Self.entryAttempts {
                // Another task deleted it in between: it is entered anew.
                attempt += 1
            }
        }
    }

    /// Tells what changed until it is cancelled: at a steady pace, whether or not files come to an end meanwhile.
    private func tell(
        _ meter: ProgressMeter,
        of id: String,
        _ report: @escaping @Sendable (Event) -> Void
    ) async {
        var told = meter.progress
        while (try? await time.sleep(for: Self.progressInterval)) != nil {
            let progress = meter.progress
            guard progress != told else { continue }
            told = progress
            report(.progress(id: id, progress))
        }
    }

    private func fetchMissing(of id: String, _ meter: ProgressMeter, _ budget: DownloadBudget) async throws {
        var queue = FetchQueue()
        let commits = CommitQueue(library)
        var firstError: (any Error)?
        try await withThrowingTaskGroup(of: (StoredResource, Result<ByteCount, any Error>).self) { group in
            var running = 0
            fetching: while true {
                filling: while running < options.jobs {
                    switch queue.next() {
                    case .fetch(let resource):
                        running += 1
                        group.addTask(executorPreference: loading.transport.executor) {
                            let fetched = await Result<ByteCount, any Error>.catching {
                                let file = try await fetch(resource, of: id, meter, budget)
                                try await commits.commit(WrittenFile(resource, file))
                                return ByteCount(file.count)
                            }
                            return (resource, fetched)
                        }
                    case .read(let last):
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
                    meter.stored(resource, bytes: bytes)
                    queue.stored()
                case .failure(let error):
                    // A full disk and a cancellation end everything at once.
                    guard error is TransportError else { throw error }
                    firstError = firstError ?? error
                    queue.failed()
                }
            }
        }
        if let firstError { throw firstError }
    }

    private var defaultTitle: String {
        // A title is shown: nothing of it may be a secret.
        let path = ResourceAddress(source.description).path
        let parts = path.split(separator: "/").map { PercentEncoding.decode(String($0)) ?? String($0) }
        let name = parts.last ?? source.host ?? source.description
        // "multivariant.m3u8" says nothing; the folder before it does.
        let isGeneric = ["multivariant", "master", "index", "playlist", "main", "prog_index"].contains {
            name.lowercased().hasPrefix($0)
        }
        return isGeneric && parts.count > 1 ? parts[parts.count - 2] : name
    }

    /// Fetches a file; its content is on the disk, and the catalog does not have it yet.
    private func fetch(
        _ resource: StoredResource,
        of id: String,
        _ meter: ProgressMeter,
        _ budget: DownloadBudget
    ) async throws -> PackageFile {
        let request = TransportRequest(
            resource.address,
            kind: TransportRequest.Kind(resource.kind),
            byteRange: resource.byteRange
        )
        return try await loading.retrying(request) { response in
            try budget.begin(resource, announced: response.expectedLength, at: response.address)
            let file = library.makeFile(for: resource, of: id)
            // What is on its way counts until the file is there, or is given up.
            let flight = meter.takeOff()
            defer { meter.land(flight) }
            var received: Int64 = 0
            do {
                try await write(response, to: file) { count in
                    try check(count, resource, response)
                } received: { count in
                    received +|= Int64(clamping: count)
                    try budget.check(received, of: resource, at: response.address)
                    try budget.spend(Int64(clamping: count))
                    meter.received(count, by: flight)
                }
            } catch {
                budget.refund(received)
                // Here and not on another thread: after a cancellation none would take it.
                file.abandon()
                throw error
            }
            return file
        }
    }

    private func write(
        _ response: TransportResponse,
        to file: PackageFile,
        check: @Sendable @escaping (Int64) throws -> Void,
        received: (Int) throws -> Void
    ) async throws {
        var pending = ByteBuffer()
        for try await var buffer in response.body {
            try received(buffer.readableBytes)
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
                "\(count) bytes came where \(range.length) were asked for",
                address: response.address
            )
        }
        if resource.kind == .key, count != DownloadBudget.keySize {
            throw TransportError(
                .wrongContent,
                "a key has 16 bytes, and \(count) came",
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
    fileprivate init(_ kind: StoredResource.Kind) {
        self =
            switch kind {
            case .segment: .segment
            case .initialization: .initialization
            case .key: .key
            case .subtitle: .subtitle
            }
    }
}
