import DASHManifest
import PresentationLoading
import ResourceAddressing
<<<<<<< HEAD
=======
import SegmentFormat

/// A source that loads a DASH presentation: its manifest, its segment indexes and the time of its clock.
struct PresentationSource {
    /// The maximum size of a segment index.
    ///
    /// The index of one hour in segments of one second takes 43 KB.
    private static let maximumIndexSize = ByteCount(16 << 20)
    /// The maximum size of a response with the time of day.
    private static let maximumTimeSize = ByteCount(4_096)
    /// The maximum number of `UTCTiming` elements that are used.
    private static let maximumClockCount = 4
    /// The maximum number of loads for the segment indexes of a presentation, nested ones included.
    private static let maximumIndexLoadCount = 2_000

    let loader: ResourceLoader
>>>>>>> r9

/// The reading of DASH manifests for commands that report their contents.
enum PresentationSource {
    /// Returns a manifest, or `nil` if the bytes are something else.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that were loaded.
    ///   - address: The base URL of references.
    ///   - name: The name of the source for messages.
    /// - Returns: The manifest, or `nil` if the bytes do not look like a manifest.
    /// - Throws: ``Failure`` if the bytes look like a manifest but cannot be read.
    static func presentation(
        _ bytes: [UInt8],
        address: ResourceAddress?,
        name: String
    ) throws -> MediaPresentation? {
        guard ManifestRecognition(bytes, isComplete: true) == .manifest else { return nil }
        return try manifest(bytes, address: address, name: name)
    }

    /// Returns a manifest.
    ///
    /// - Throws: ``Failure`` if the bytes are not a manifest.
    static func manifest(_ bytes: [UInt8], address: ResourceAddress?, name: String) throws -> MediaPresentation {
        do throws(ManifestParsingError) {
            return try MediaPresentation(parsing: bytes.span, address: address)
        } catch {
            throw Failure(.badInput, "invalid-manifest", "\(PlaylistSource.name(name)): \(error)")
        }
    }
<<<<<<< HEAD
=======

    // MARK: Segment indexes

    /// Loads the segment indexes that a translation needs.
    ///
    /// Indexes that cannot be loaded are omitted from the result; the translation then reports their representations as
    /// lost.
    func indexes(_ resources: [AddressedResource]) async throws -> [AddressedResource: [IndexedSegment]] {
        var result: [AddressedResource: [IndexedSegment]] = [:]
        var loadCount = 0
        for resource in resources {
            var reader = SegmentIndexReader(resource)
            do {
                while !reader.isComplete {
                    loadCount += 1
                    guard loadCount <= Self.maximumIndexLoadCount else { return result }
                    let request = TransportRequest(resource.address, kind: .other, byteRange: reader.nextRange)
                    try reader.read(try await loader.load(request, limit: Self.maximumIndexSize).bytes)
                }
                result[resource] = reader.segments
            } catch let error as MediaFormatError {
                StandardError.write("note: the segment index of \(resource.address) cannot be read: \(error)\n")
            } catch let error as TransportError {
                StandardError.write("note: the segment index of \(resource.address) cannot be loaded: \(error)\n")
            }
        }
        return result
    }

    // MARK: The clock

    /// Returns the difference between the clock of a presentation and that of this machine (ISO/IEC 23009-1 §5.8.4.11).
    ///
    /// Clocks that cannot be reached or read are skipped. If none can be read, the clock of this machine is used: the
    /// difference is zero.
    func clockDifference(of presentation: MediaPresentation) async throws -> MediaTime {
        guard presentation.kind == .dynamic else { return .zero }
        for clock in presentation.clockSynchronizations.prefix(Self.maximumClockCount) {
            guard let value = clock.value else { continue }
            switch clock.scheme {
            case "urn:mpeg:dash:utc:direct:2014", "urn:mpeg:dash:utc:direct:2012":
                if let date = ManifestDate(value) { return date.sinceEpoch - Self.now }
            case "urn:mpeg:dash:utc:http-iso:2014", "urn:mpeg:dash:utc:http-xsdate:2014",
                "urn:mpeg:dash:utc:http-iso:2012", "urn:mpeg:dash:utc:http-xsdate:2012":
                if let date = try await date(at: value, of: presentation) { return date - Self.now }
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
            StandardError.write("note: the clock \(address) cannot be reached: \(error)\n")
            return nil
        }
    }

    /// The time of day of this machine, in seconds since 1970.
    static var now: MediaTime { MediaTime(approximating: Date().timeIntervalSince1970) ?? .zero }
>>>>>>> r9
}
