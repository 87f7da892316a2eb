import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import SharedCorpus
import Testing

/// Compares this parser with Python's m3u8 6.0.0 on every playlist of the corpus.
///
/// The oracle is a second opinion and may be wrong: ``OracleDisagreements`` lists the justified differences.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
struct OracleTests {
    private let records: [OracleRecord]

    init() throws {
        let lines = try SharedCorpus.bytes("corpus/oracle_python_m3u8.jsonl").split(separator: UInt8(ascii: "\n"))
        records = try lines.map { try JSONDecoder().decode(OracleRecord.self, from: Data($0)) }
    }

    /// Both directions are checked: a disagreement that the table does not list fails, and so does an entry of the
    /// table that does not occur.
    @Test func parserAgreesWithOracleExceptForListedDisagreements() throws {
        #expect(records.count >= 554)
        var found: Set<OracleDisagreement> = []
        for record in records {
            let (ours, theirs) = (try OracleFacts(parsing: record), OracleFacts(record))
            for field in OracleField.allCases where !ours.agrees(with: theirs, on: field) {
                found.insert(OracleDisagreement(record.name, field))
                #expect(
                    OracleDisagreements.all[record.name]?[field] != nil,
                    "\(record.path) \(field): we \(ours[field] ?? "-"), they \(theirs[field] ?? "-")"
                )
            }
        }
        for (path, fields) in OracleDisagreements.all {
            for field in fields.keys {
                #expect(found.contains(OracleDisagreement(path, field)), "\(path) \(field): listed, but we agree")
            }
        }
    }

    /// The strict mode of the oracle stops at the first unknown line; this parser continues but must report the line.
    @Test func syntaxErrorsOfStrictOracleAreReported() throws {
        var checked = 0
        for record in records {
            guard let number = record.lineOfSyntaxError else { continue }
            let bytes = try record.bytes()
            guard let playlist = try? Playlist.parse(bytes) else { continue }
            let line = String(decoding: bytes, as: UTF8.self).split(
                omittingEmptySubsequences: false,
                whereSeparator: \.isNewline
            )[number - 1]
            let isComment = line.hasPrefix("#") && !line.hasPrefix("#EXT")
            let isNewerThanTheirs = line.hasPrefix("#EXT-X-DEFINE")
            let isNamed = playlist.diagnostics.contains { $0.line == number }
            #expect(isComment || isNewerThanTheirs || isNamed, "\(record.path): \(line)")
            checked += 1
        }
        #expect(checked >= 260)
    }
}

/// A fact about a playlist that both parsers report.
enum OracleField: String, CaseIterable, Hashable {
    case isReadable, kind, version, playlistType, targetDuration, mediaSequence, discontinuitySequence, hasEndMarker
    case isIFramesOnly, hasIndependentSegments
    case segmentCount, duration, firstAddress, discontinuityCount, partCount, keyCount, mapCount, dateRangeCount
    case variants, renditionCount, iFrameVariantCount
}

/// A fact about a playlist on which the parsers disagree.
private struct OracleDisagreement: Hashable {
    let path: String
    let field: OracleField

    init(_ path: String, _ field: OracleField) {
        self.path = path
        self.field = field
    }
}

/// The facts that one parser reports about a playlist, as text; a fact that it could not parse is missing.
private struct OracleFacts {
    private var facts: [OracleField: String] = [:]
    private var seconds: MediaTime?

    subscript(field: OracleField) -> String? { facts[field] }

    /// Returns whether the parsers agree on a fact.
    ///
    /// The oracle recorded sums of floating-point numbers rounded to six fractional digits, so durations may differ by
    /// half a microsecond.
    func agrees(with other: OracleFacts, on field: OracleField) -> Bool {
        // A playlist that one parser rejects has no other facts.
        guard field == .isReadable || facts[.isReadable] == other[.isReadable] else { return true }
        guard field == .duration, let seconds, let others = other.seconds else { return self[field] == other[field] }
        let difference = seconds < others ? others - seconds : seconds - others
        return difference <= MediaTime(value: 5, timescale: 10_000_000)
    }

    /// Creates the facts that the oracle recorded.
    init(_ record: OracleRecord) {
        facts[.isReadable] = "\(record.lenient == "ok")"
        guard let isVariant = record.isVariant else { return }
        facts[.kind] = (isVariant ? Playlist.Kind.multivariant : .media).rawValue
        facts[.version] = record.version.map { "\($0)" }
        facts[.hasIndependentSegments] = record.independent.map { "\($0)" }
        facts[.variants] = record.variants?.map(\.description).joined(separator: "\n")
        facts[.renditionCount] = record.renditionCount.map { "\($0)" }
        facts[.iFrameVariantCount] = record.iFrameVariantCount.map { "\($0)" }
        facts[.hasEndMarker] = record.isEndlist.map { "\($0)" }
        facts[.isIFramesOnly] = record.iFramesOnly.map { "\($0)" }
        facts[.playlistType] = record.type
        facts[.targetDuration] = record.target.map { "\($0)" }
        facts[.mediaSequence] = "\(record.mediaSequence ?? 0)"
        facts[.discontinuitySequence] = "\(record.discontinuitySequence ?? 0)"
        facts[.segmentCount] = record.segmentCount.map { "\($0)" }
        seconds = record.total.flatMap { MediaTime(approximating: $0) }
        facts[.duration] = seconds?.description
        facts[.firstAddress] = record.firstURI
        facts[.discontinuityCount] = record.discontinuityCount.map { "\($0)" }
        facts[.partCount] = record.partCount.map { "\($0)" }
        facts[.keyCount] = record.keyCount.map { "\($0)" }
        facts[.mapCount] = record.mapCount.map { "\($0)" }
        facts[.dateRangeCount] = record.dateRangeCount.map { "\($0)" }
    }

    /// Creates the facts that this parser reports about the file of a record.
    init(parsing record: OracleRecord) throws {
        // The oracle used the same URL as the base of relative references.
        let context = PlaylistContext(address: ResourceAddress("http://example.test/a/b/playlist.m3u8"))
        let bytes = try record.bytes()
        guard let playlist = try? Playlist.parse(bytes, context: context) else {
            facts[.isReadable] = "false"
            return
        }
        facts[.isReadable] = "true"
        // Without facts from the oracle there is nothing to compare.
        guard record.isVariant != nil else { return }
        facts[.kind] = playlist.kind.rawValue
        switch playlist {
        case .multivariant(let playlist): read(playlist)
        case .media(let playlist): read(playlist)
        }
    }

    /// Adds the facts of a multivariant playlist.
    ///
    /// The oracle reports the facts of both kinds of playlist; those of the other kind are empty or zero.
    private mutating func read(_ playlist: MultivariantPlaylist) {
        facts[.version] = playlist.declaredVersion.map { "\($0)" }
        facts[.hasIndependentSegments] = "\(playlist.hasIndependentSegments)"
        facts[.variants] = playlist.variants.map(\.oracleText).joined(separator: "\n")
        facts[.renditionCount] = "\(playlist.renditions.count)"
        facts[.iFrameVariantCount] = "\(playlist.iFrameVariants.count)"
        for field in [OracleField.hasEndMarker, .isIFramesOnly] { facts[field] = "false" }
        for field in [
            OracleField.mediaSequence, .discontinuitySequence, .segmentCount, .discontinuityCount, .partCount,
            .keyCount, .mapCount, .dateRangeCount, .duration,
        ] { facts[field] = "0" }
        seconds = .zero
    }

    private mutating func read(_ playlist: MediaPlaylist) {
        facts[.version] = playlist.declaredVersion.map { "\($0)" }
        facts[.hasIndependentSegments] = "\(playlist.hasIndependentSegments)"
        facts[.hasEndMarker] = "\(playlist.hasEndMarker)"
        facts[.isIFramesOnly] = "\(playlist.isIFramesOnly)"
        facts[.playlistType] = playlist.playlistType?.rawValue.lowercased()
        facts[.targetDuration] = playlist.targetDuration?.description
        facts[.mediaSequence] = "\(playlist.mediaSequence)"
        facts[.discontinuitySequence] = "\(playlist.discontinuitySequence)"
        let segments = Array(playlist.segments)
        facts[.segmentCount] = "\(segments.count)"
        seconds = playlist.duration
        facts[.duration] = playlist.duration.description
        facts[.firstAddress] = segments.first?.address.text
        facts[.discontinuityCount] = "\(segments.count { $0.hasDiscontinuity })"
        facts[.partCount] = "\(segments.reduce(playlist.trailingParts.count) { $0 + $1.parts.count })"
        facts[.keyCount] = "\(Set(segments.flatMap(\.keys) + segments.flatMap { $0.map?.keys ?? [] }).count)"
        // A preload hint may also refer to a map; the oracle counts only `EXT-X-MAP`.
        let maps = Playlist.media(playlist).addresses.count { $0.role == .initialization }
        facts[.mapCount] = "\(maps - playlist.preloadHints.count { $0.type == "MAP" })"
        facts[.dateRangeCount] = "\(playlist.dateRanges.count)"
        facts[.variants] = ""
        facts[.renditionCount] = "0"
        facts[.iFrameVariantCount] = "0"
    }
}

extension Variant {
    /// The variant in the form that the oracle recorded.
    fileprivate var oracleText: String {
        OracleRecord.VariantRecord(
            bandwidth: bandwidth?.bitsPerSecond,
            resolution: resolution.map { [$0.width, $0.height] },
            codecs: attributes["CODECS"],
            frameRate: frameRate?.seconds,
            uri: uri
        ).description
    }
}

/// A line of `oracle_python_m3u8.jsonl`.
private struct OracleRecord: Decodable {
    let path: String
    /// `ok`, or the exception of the oracle's lenient mode; with an exception, all other fields are missing.
    let lenient: String
    let strict: String
    let isVariant: Bool?
    let isEndlist: Bool?
    let version: Int?
    let type: String?
    let target: Int?
    let mediaSequence: Int64?
    let discontinuitySequence: Int64?
    let segmentCount: Int?
    /// The sum of all durations in seconds, rounded to six fractional digits.
    let total: Double?
    let discontinuityCount: Int?
    let partCount: Int?
    let keyCount: Int?
    let mapCount: Int?
    let dateRangeCount: Int?
    let iFramesOnly: Bool?
    let independent: Bool?
    let variants: [VariantRecord]?
    let renditionCount: Int?
    let iFrameVariantCount: Int?
    let firstURI: String?

    enum CodingKeys: String, CodingKey {
        case path, lenient, strict, version, type, target, total, independent, variants
        case isVariant = "is_variant"
        case isEndlist = "is_endlist"
        case mediaSequence = "media_sequence"
        case discontinuitySequence = "discontinuity_sequence"
        case segmentCount = "n_segments"
        case discontinuityCount = "n_discontinuity"
        case partCount = "n_parts"
        case keyCount = "n_keys"
        case mapCount = "n_maps"
        case dateRangeCount = "n_daterange"
        case iFramesOnly = "i_frames_only"
        case renditionCount = "n_media"
        case iFrameVariantCount = "n_iframe"
        case firstURI = "first_uri"
    }

    /// The path relative to `corpus/hls`.
    var name: String { String(path.trimmingPrefix("hls/")) }

    /// Returns the bytes of the playlist that the record describes.
    func bytes() throws -> [UInt8] { try SharedCorpus.bytes("corpus/" + path) }

    /// The line at which the oracle's strict mode stopped because of a syntax error.
    var lineOfSyntaxError: Int? {
        strict.firstMatch(of: /^ParseError: Syntax error in manifest on line (\d+):/).flatMap { Int($0.output.1) }
    }

    /// A variant, encoded as an array.
    struct VariantRecord: Decodable, CustomStringConvertible {
        let bandwidth: Int64?
        let resolution: [Int]?
        let codecs: String?
        let frameRate: Double?
        let uri: String

        init(bandwidth: Int64?, resolution: [Int]?, codecs: String?, frameRate: Double?, uri: String) {
            self.bandwidth = bandwidth
            self.resolution = resolution
            self.codecs = codecs
            self.frameRate = frameRate
            self.uri = uri
        }

        init(from decoder: any Decoder) throws {
            var values = try decoder.unkeyedContainer()
            bandwidth = try values.decodeIfPresent(Int64.self)
            resolution = try values.decodeIfPresent([Int].self)
            codecs = try values.decodeIfPresent(String.self)
            frameRate = try values.decodeIfPresent(Double.self)
            uri = try values.decode(String.self)
        }

        var description: String {
            let size = resolution.map { $0.map { "\($0)" }.joined(separator: "x") }
            let rate = frameRate.map { "\($0)" }
            return "\(bandwidth ?? -1) \(size ?? "-") \(codecs ?? "-") \(rate ?? "-") \(uri)"
        }
    }
}
