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

        /// Makes options.
        ///
        /// - Parameters:
        ///   - selection: Defaults to the best variant with all sound and text.
        ///   - title: Defaults to what the address suggests.
        ///   - jobs: Defaults to 6, as browsers do; a server may take many connections of one client as an attack.
        public init(selection: DownloadSelection = DownloadSelection(), title: String? = nil, jobs: Int = 6) {
            self.selection = selection
            self.title = title
            self.jobs = min(max(jobs, 1), 64)
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
    /// So many bytes are gathered before a thread is asked to write them.
    private static let writeSize = 256 << 10

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
        let resolution = try await DownloadResolver(loading: loading, selection: options.selection).resolve(source)
        let id = try library.enter(
            source: source,
            title: options.title ?? defaultTitle,
            selection: options.selection.description
        )
        let lock = try PackageLock(library.packageDirectory(id))
        defer { withExtendedLifetime(lock) {} }
        try library.plan(
            id,
            source: resolution.playlist,
            at: resolution.address,
            renditions: resolution.renditions
        )
        let missing = try library.missingResources(id)
        let meter = ProgressMeter(ProgressCounter(try library.asset(id), missing: missing.count))
        report(.resolved(id: id, meter.progress))
        do {
            // It ends with this scope.
            async let _: Void = tell(meter, of: id, report)
            try await fetch(missing, of: id, meter)
        }
        try library.finish(id)
        let asset = try library.asset(id)
        report(.progress(id: id, meter.progress))
        report(.completed(asset))
        return asset
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

    private func fetch(_ missing: [StoredResource], of id: String, _ meter: ProgressMeter) async throws {
        var queue = FetchQueue(missing)
        var notes = StoredNotes(library, time)
        var firstError: (any Error)?
        // Whatever ends this, what is there is noted; were it not, the files themselves tell the next run.
        defer { try? notes.write() }
        try await withThrowingTaskGroup(of: (StoredResource, Result<ByteCount, any Error>).self) { group in
            var running = 0
            fetching: while true {
                while running < options.jobs {
                    let action = queue.next()
                    guard case .fetch(let resource) = action else {
                        if action == .wait { break }
                        break fetching
                    }
                    running += 1
                    group.addTask(executorPreference: loading.transport.executor) {
                        (resource, await Result.catching { try await fetch(resource, of: id, meter) })
                    }
                }
                guard let (resource, result) = try await group.next() else { break }
                running -= 1
                switch result {
                case .success(let bytes):
                    try notes.add(resource, bytes)
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
        try notes.write()
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

    private func fetch(
        _ resource: StoredResource,
        of id: String,
        _ meter: ProgressMeter
    ) async throws -> ByteCount {
        let path = "\(library.packageDirectory(id).path)/\(resource.path)"
        let request = TransportRequest(
            resource.address,
            kind: TransportRequest.Kind(resource.kind),
            byteRange: resource.byteRange
        )
        return try await loading.retrying(request) { response in
            let file = PackageFile(path)
            // What is on its way counts until the file is there, or is given up.
            let flight = meter.takeOff()
            defer { meter.land(flight) }
            do {
                try await write(response, to: file) { count in
                    try check(count, resource, response)
                } received: { count in
                    meter.received(count, by: flight)
                }
            } catch {
                file.abandon()
                throw error
            }
            return ByteCount(file.count)
        }
    }

    private func write(
        _ response: TransportResponse,
        to file: PackageFile,
        check: @Sendable @escaping (Int64) throws -> Void,
        received: (Int) -> Void
    ) async throws {
        var pending = ByteBuffer()
        for try await var buffer in response.body {
            received(buffer.readableBytes)
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
        if resource.kind == .key, count != 16 {
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
