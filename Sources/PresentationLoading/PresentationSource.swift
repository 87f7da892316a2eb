import DASHManifest
import DASHTranslation
import MediaTiming
import MediaTransport
import ResourceAddressing
import SegmentFormat

/// The resources of a presentation besides its manifest: segment indexes and clocks.
struct PresentationSource {
    /// The maximum size of a response with the time of day.
    private static let maximumTimeSize = ByteCount(4_096)
    /// The maximum number of clocks that are asked.
    private static let maximumClockCount = 4
    /// The maximum number of segment indexes that are loaded at the same time.
    private static let concurrentLoads = 4

    let loader: ResourceLoader
    let options: PresentationOptions

    // MARK: Segment indexes

    /// The segment indexes of a presentation.
    struct Indexes: Sendable {
        /// The segments of each index that was loaded.
        var segments: [AddressedResource: [IndexedSegment]] = [:]
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
        let budget = IndexBudget(bytes: options.indexSize.bytes, loads: options.indexLoadCount)
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
        case loaded([IndexedSegment])
        /// The index does not exist, or cannot be read.
        case failed(TransportError)
        /// The server could not be reached or was busy.
        case interrupted(TransportError)
    }

    private func index(_ resource: AddressedResource, _ budget: IndexBudget) async throws -> IndexResult {
        var reader = SegmentIndexReader(resource)
        do {
            while !reader.isComplete {
                let request = TransportRequest(resource.address, kind: .other, byteRange: reader.nextRange)
                let limit = try budget.beginLoad(of: resource.address)
                let loaded = try await loader.load(request, limit: limit)
                budget.receive(loaded.bytes.count)
                try reader.read(loaded.bytes)
            }
            return .loaded(reader.segments)
        } catch let error as MediaFormatError {
            return .failed(
                TransportError(.wrongContent, "the index cannot be read: \(error)", address: resource.address)
            )
        } catch let error as TransportError {
            switch error.category(of: .other) {
            case .unreachable, .busy: return .interrupted(error)
            default: return .failed(error)
            }
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
            default: continue
            }
        }
        return .zero
    }

    private func date(at value: String, of presentation: MediaPresentation) async throws -> MediaTime? {
        guard let reference = value.split(separator: " ").first.map(String.init) else { return nil }
        let address = presentation.address?.resolving(reference) ?? ResourceAddress(reference)
        guard address.isHTTP else { return nil }
        do {
            let loaded = try await loader.load(TransportRequest(address, kind: .other), limit: Self.maximumTimeSize)
            return ManifestDate(String(decoding: loaded.bytes, as: UTF8.self))?.sinceEpoch
        } catch let error as TransportError {
            options.reportProblem("the clock \(address) cannot be reached: \(error.message)")
            return nil
        }
    }
}
