import DASHManifest
import DASHTranslation
import MediaTiming
import MediaTransport
import ResourceAddressing
import SegmentFormat

/// The resources of a presentation besides its manifest: remote elements, segment indexes and clocks.
struct PresentationSource {
    /// The maximum size of a response with the time of day.
    private static let maximumTimeSize = ByteCount(4_096)
    /// The maximum number of clocks that are asked.
    private static let maximumClockCount = 4
    /// The maximum number of segment indexes that are loaded at the same time.
    private static let concurrentLoads = 4
    /// The maximum number of remote elements that are loaded at the same time.
    private static let concurrentElementLoads = 8

    let loader: ResourceLoader
    let options: PresentationOptions

    // MARK: Segment indexes

    /// The segment indexes of a presentation.
    struct Indexes: Sendable {
        /// The segments of each index that was loaded.
        var segments: [AddressedResource: IndexedFile] = [:]
        /// The indexes that do not exist or cannot be read, whose representations are lost.
        var failures: [AddressedResource: TransportError] = [:]
    }

    /// Loads segment indexes, a few at a time.
    ///
    /// An index that does not exist or cannot be read is reported and left out. If a server cannot be reached or is
    /// busy, the load fails, so that it can be repeated; `indexes` then contains what was loaded before.
    ///
    /// - Throws: `TransportError`, `CancellationError`.
    func load(_ resources: [AddressedResource], into indexes: inout Indexes) async throws {
        var waiting = resources.filter { indexes.segments[$0] == nil && indexes.failures[$0] == nil }[...]
        let budget = LoadBudget(
            bytes: options.indexSize.bytes,
            loads: options.indexLoadCount,
            of: "segment indexes"
        )
        var found = indexes
        defer { indexes = found }
        var interruption: TransportError?
        try await withThrowingTaskGroup(of: (AddressedResource, IndexResult).self) { group in
            var running = 0
            while running > 0 || interruption == nil && !waiting.isEmpty {
                while interruption == nil, running < Self.concurrentLoads, let resource = waiting.popFirst() {
                    group.addTask { (resource, try await index(resource, budget)) }
                    running += 1
                }
                guard let (resource, result) = try await group.next() else { break }
                running -= 1
                switch result {
                case .loaded(let segments): found.segments[resource] = segments
                case .failed(let error):
                    found.failures[resource] = error
                    options.reportProblem("the segment index of \(resource.address) is missing: \(error.message)")
                // The loads that are in progress end first, so that they need not be repeated.
                case .interrupted(let error): interruption = interruption ?? error
                }
            }
        }
        if let interruption { throw interruption }
    }

    private enum IndexResult: Sendable {
        case loaded(IndexedFile)
        /// The index does not exist, or cannot be read.
        case failed(TransportError)
        /// The server could not be reached or was busy.
        case interrupted(TransportError)
    }

    private func index(_ resource: AddressedResource, _ budget: LoadBudget) async throws -> IndexResult {
        var reader = SegmentIndexReader(resource)
        do {
            while !reader.isComplete {
                let limit = try budget.beginLoad(of: resource.address)
                let bytes: [UInt8]
                if let length = reader.nextLength {
                    bytes = try await loader.loadBeginning(of: resource, length: min(length, limit.bytes))
                } else {
                    let request = TransportRequest(resource.address, kind: .other, byteRange: reader.nextRange)
                    bytes = try await loader.load(request, limit: limit).bytes
                }
                budget.receive(bytes.count)
                try reader.read(bytes)
            }
            return .loaded(IndexedFile(reader.segments, initialization: reader.initialization))
        } catch let error as MediaFormatError {
            return .failed(
                TransportError(.wrongContent, "the index cannot be read: \(error)", address: resource.address)
            )
        } catch let error as TransportError {
            switch error.category(of: .other) {
            case .unreachable, .busy: return .interrupted(error)
            case .inconsistent, .missing, .damaged, .stale, .denied, .deviceLost: return .failed(error)
            }
        }
    }

    // MARK: Remote elements

    /// Returns a manifest with its remote elements in place (ISO/IEC 23009-1 §5.5).
    ///
    /// An element that cannot be loaded or read is reported, and stays as it is without its link. The same applies to
    /// those of a local manifest whose relative URLs would name local files.
    ///
    /// - Parameters:
    ///   - manifest: The manifest as it was loaded, or as a patch changed it.
    ///   - address: The base of relative references.
    ///   - date: The time of day, which determines the elements of a dynamic presentation that are needed.
    /// - Returns: The bytes of the manifest, which are the same if it has no remote elements, and the time of day at which
    ///   the next element is needed.
    /// - Throws: `ManifestParsingError` if the manifest is not well-formed or exceeds a limit, `CancellationError`.
    func insertingRemoteElements(
        in manifest: [UInt8],
        address: ResourceAddress?,
        at date: MediaTime
    ) async throws -> (bytes: [UInt8], nextDate: MediaTime?) {
        guard RemoteElements.areUsed(in: manifest) else { return (manifest, nil) }
        let limits = options.manifest
        var elements = try await perform {
            try RemoteElements(in: manifest.span, address: address, at: date, limits: limits)
        }
        let budget = LoadBudget(
            bytes: Int64(clamping: limits.byteCount) -| Int64(clamping: manifest.count),
            loads: options.remoteElementLoadCount,
            of: "remote elements"
        )
        let deadline = options.time.now + options.remoteElementTimeout
        var reportedCount = 0
        func reportUnsupportedLinks() {
            for link in elements.unsupportedLinks.dropFirst(reportedCount) {
                let reason =
                    "it has no HTTP URL, or there are too many remote elements, or too many within each other"
                // Unlike the link, the description of an address shows no secrets.
                let address = ResourceAddress(link).withoutUserInformation
                options.reportProblem("the remote element \(address) is not loaded: \(reason)")
            }
            reportedCount = elements.unsupportedLinks.count
        }
        reportUnsupportedLinks()
        // Remote documents may refer to others.
        while !elements.references.isEmpty {
            let references = elements.references
            let documents = try await remoteDocuments(references, budget, deadline)
            let current = elements
            let (next, rejected) = try await perform { () -> (RemoteElements, [RemoteElements.Reference]) in
                var next = current
                var rejected: [RemoteElements.Reference] = []
                for reference in references {
                    guard let document = documents[reference.address] else {
                        next.discard(reference)
                        continue
                    }
                    if !next.resolve(reference, with: document) { rejected.append(reference) }
                }
                return (next, rejected)
            }
            elements = next
            // An element that was not read to its end is not at fault.
            try Task.checkCancellation()
            for reference in rejected {
                let reason =
                    elements.localReferences.contains(reference.address)
                    ? "is not inserted: it has no HTTP base URL, and would name local files"
                    : "is not one that can be inserted"
                options.reportProblem("the remote element \(reference.address) \(reason)")
            }
            reportUnsupportedLinks()
        }
        let result = elements
        return (try await perform { result.bytes }, result.nextDate)
    }

    /// Loads remote documents, a few at a time, each of them once.
    ///
    /// - Parameters:
    ///   - references: The references to the documents.
    ///   - budget: The budget of all remote documents of the manifest.
    ///   - deadline: The time at which loads are canceled.
    /// - Returns: The documents by address; those that cannot be loaded are reported and left out.
    /// - Throws: `CancellationError`.
    private func remoteDocuments(
        _ references: [RemoteElements.Reference],
        _ budget: LoadBudget,
        _ deadline: Duration
    ) async throws -> [ResourceAddress: [UInt8]] {
        var known: Set<ResourceAddress> = []
        var waiting = references.map(\.address).filter { known.insert($0).inserted }[...]
        var documents: [ResourceAddress: [UInt8]] = [:]
        var loading: Set<ResourceAddress> = []
        try await withThrowingTaskGroup(of: RemoteLoad.self) { group in
            group.addTask {
                try await options.time.sleep(for: max(.zero, deadline - options.time.now))
                return .timeout
            }
            while !loading.isEmpty || !waiting.isEmpty {
                while loading.count < Self.concurrentElementLoads, options.time.now < deadline,
                    let address = waiting.popFirst()
                {
                    group.addTask { .ended(address, try await remoteDocument(at: address, budget)) }
                    loading.insert(address)
                }
                guard case .ended(let address, let result) = try await group.next() else { break }
                loading.remove(address)
                switch result {
                case .success(let bytes): documents[address] = bytes
                case .failure(let error):
                    options.reportProblem("the remote element \(address) is missing: \(error.message)")
                }
            }
            // What the group still waits for is the timeout, or loads that take too long.
            group.cancelAll()
        }
        let missing = loading.union(waiting)
        if let first = references.first(where: { missing.contains($0.address) })?.address {
            options.reportProblem(
                "\(missing.count) remote elements are missing, \(first) first: the time for them is over"
            )
        }
        return documents
    }

    private enum RemoteLoad: Sendable {
        case ended(ResourceAddress, Result<[UInt8], TransportError>)
        case timeout
    }

    /// - Throws: `CancellationError`.
    private func remoteDocument(
        at address: ResourceAddress,
        _ budget: LoadBudget
    ) async throws -> Result<[UInt8], TransportError> {
        do {
            let limit = try budget.beginLoad(of: address)
            let request = TransportRequest(address.withoutFragment, kind: .other)
            let loaded = try await loader.load(request, limit: limit)
            budget.receive(loaded.bytes.count)
            return .success(loaded.bytes)
        } catch let error as TransportError {
            return .failure(error)
        }
    }

    // MARK: Patches

    /// Loads a patch, and applies it to a manifest (ISO/IEC 23009-1:2022 §5.15).
    ///
    /// - Returns: The next version of the manifest, with the measurement of the patch.
    /// - Throws: `ManifestPatchError` if the patch cannot be applied, `TransportError`, `CancellationError`.
    func manifest(
        _ manifest: PresentationSession.LoadedManifest,
        patchedFrom address: ResourceAddress
    ) async throws -> PresentationSession.LoadedManifest {
        let limits = options.manifest
        let limit = ByteCount(Int64(clamping: limits.byteCount))
        let patch = try await loader.send(TransportRequest(address, kind: .other)) { response in
            PresentationSession.LoadedManifest(
                try await ManifestBody.bytes(of: response, limit: limit),
                address: manifest.address,
                record: response.record
            )
        }
        let bytes = try await perform {
            try ManifestPatch(parsing: patch.bytes.span, limits: limits)
                .applied(to: manifest.bytes.span, limits: limits)
        }
        // Relative references are resolved with the address of the manifest, not with that of the patch.
        return PresentationSession.LoadedManifest(bytes, address: manifest.address, record: patch.record)
    }

    private func perform<Output: Sendable>(_ work: @escaping @Sendable () throws -> Output) async throws -> Output {
        guard let workers = options.workers else {
            try Task.checkCancellation()
            return try work()
        }
        return try await workers.perform { check in
            try check()
            return try work()
        }
    }

    // MARK: The clock

    /// Returns the difference between the clock of a presentation and that of this machine (ISO/IEC 23009-1 §5.8.4.11).
    ///
    /// Clocks that cannot be reached or read are skipped; without one, the clock of this machine counts.
    func clockDifference(of presentation: MediaPresentation) async throws -> MediaTime {
        guard presentation.kind == .dynamic else { return .zero }
        for clock in presentation.clockSynchronizations.prefix(Self.maximumClockCount) {
            guard let value = clock.value else { continue }
            switch clock.scheme {
            case "urn:mpeg:dash:utc:direct:2014", "urn:mpeg:dash:utc:direct:2012":
                if let date = ManifestDate(value) { return date.sinceEpoch - options.now }
            case "urn:mpeg:dash:utc:http-iso:2014", "urn:mpeg:dash:utc:http-xsdate:2014",
                "urn:mpeg:dash:utc:http-iso:2012", "urn:mpeg:dash:utc:http-xsdate:2012":
                if let date = try await date(at: value, of: presentation) { return date - options.now }
            case "urn:mpeg:dash:utc:http-head:2014", "urn:mpeg:dash:utc:http-head:2012":
                if let date = try await headerDate(at: value, of: presentation) { return date - options.now }
            case "urn:mpeg:dash:utc:http-ntp:2014", "urn:mpeg:dash:utc:http-ntp:2012":
                if let date = try await timestamp(at: value, of: presentation) { return date - options.now }
            default:
                let text = String(clock.scheme.prefix(200))
                options.reportProblem("a clock is skipped: its scheme \(text) is not supported")
            }
        }
        return .zero
    }

    /// Returns the URL of a clock, the first of those that a descriptor lists, or `nil` if it has another scheme.
    private func address(of value: String, in presentation: MediaPresentation) -> ResourceAddress? {
        guard let reference = value.split(separator: " ").first.map(String.init) else { return nil }
        let address = presentation.address?.resolving(reference) ?? ResourceAddress(reference)
        return address.isHTTP ? address : nil
    }

    /// Returns the date in the header of a response.
    ///
    /// Transports send requests with the method GET only, which are answered with the same header as those with HEAD
    /// (RFC 9110 §9.3.2). The body is not read.
    private func headerDate(at value: String, of presentation: MediaPresentation) async throws -> MediaTime? {
        guard let address = address(of: value, in: presentation) else { return nil }
        do {
            let text = try await loader.send(TransportRequest(address, kind: .other)) { response in
                response.header("Date")
            }
            if let seconds = text.flatMap(HTTPDate.seconds) { return MediaTime(seconds: seconds) }
            options.reportProblem("the clock \(address) is skipped: its response has no date")
        } catch let error as TransportError {
            options.reportProblem("the clock \(address) cannot be reached: \(error.message)")
        }
        return nil
    }

    /// Returns the date that is the body of a response.
    private func date(at value: String, of presentation: MediaPresentation) async throws -> MediaTime? {
        try await time(at: value, of: presentation) { bytes in
            ManifestDate(String(decoding: bytes, as: UTF8.self))?.sinceEpoch
        }
    }

    /// Returns the NTP timestamp that is the body of a response: 32 bits with the seconds since 1900, and 32 bits with
    /// their fraction (RFC 5905 §6).
    private func timestamp(at value: String, of presentation: MediaPresentation) async throws -> MediaTime? {
        try await time(at: value, of: presentation) { bytes in
            guard bytes.count == 8 else { return nil }
            let number = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            // The seconds begin again at zero in 2036; earlier dates than 1968 belong to that era.
            let era: UInt64 = number >> 63 == 0 ? 1 << 32 : 0
            let seconds = Int64(clamping: (number >> 32) +| era) -| Self.secondsFrom1900To1970
            return MediaTime(seconds: seconds)
                + MediaTime(value: Int64(clamping: number & 0xFFFF_FFFF), timescale: 1 << 32)
        }
    }

    private static let secondsFrom1900To1970: Int64 = 2_208_988_800

    /// Returns the time in the body of a response, or `nil` if it cannot be loaded or read.
    private func time(
        at value: String,
        of presentation: MediaPresentation,
        _ read: ([UInt8]) -> MediaTime?
    ) async throws -> MediaTime? {
        guard let address = address(of: value, in: presentation) else { return nil }
        do {
            let loaded = try await loader.load(TransportRequest(address, kind: .other), limit: Self.maximumTimeSize)
            if let time = read(loaded.bytes) { return time }
            options.reportProblem("the clock \(address) is skipped: its response cannot be read")
        } catch let error as TransportError {
            options.reportProblem("the clock \(address) cannot be reached: \(error.message)")
        }
        return nil
    }
}
