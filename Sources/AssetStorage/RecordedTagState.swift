import HLSPlaylist
import ResourceAddressing

/// The keys and the initialization section that apply at the end of a recording.
///
/// Their tags apply to all segments up to the next tag (RFC 8216bis §4.4.4.4, §4.4.4.5), so that a segment is recorded
/// only with those that change.
struct RecordedTagState {
    /// The lines of the keys that apply; empty at the beginning of a run, so that the first segment repeats them.
    private var keyLines: [String] = []
    /// The line of the initialization section that applies; `nil` at the beginning of a run.
    private var mapLine: String?
    /// A Boolean value that indicates whether keys of an earlier run apply, which the first segment has to end.
    private var hasFormerKeys: Bool
    /// A Boolean value that indicates whether an initialization section applies, which no tag can end.
    private(set) var hasMap: Bool

    /// Creates the state at the beginning of a run.
    ///
    /// - Parameters:
    ///   - hasFormerKeys: A Boolean value that indicates whether a segment of an earlier run has keys.
    ///   - hasMap: A Boolean value that indicates whether a segment of an earlier run has an initialization section.
    init(hasFormerKeys: Bool = false, hasMap: Bool = false) {
        self.hasFormerKeys = hasFormerKeys
        self.hasMap = hasMap
    }

    /// Adds the key and map lines that a segment needs and that do not apply yet.
    mutating func addTags(of segment: MediaSegment, _ plan: PackagePlan, to lines: inout RecordedLines) {
        if let map = segment.map {
            var line = "#EXT-X-MAP:URI=\"\(WrittenText.uri(map.address.text))\""
            if let range = map.byteRange { line += ",BYTERANGE=\"\(range)\"" }
            if line != mapLine {
                addKeys(map.keys, of: segment, plan, to: &lines)
                lines.add(line, local: "#EXT-X-MAP:URI=\"\(plan.localName(plan.path(of: map)))\"")
                mapLine = line
                hasMap = true
            }
        }
        addKeys(segment.keys, of: segment, plan, to: &lines)
    }

    private mutating func addKeys(
        _ keys: [EncryptionKey],
        of segment: MediaSegment,
        _ plan: PackagePlan,
        to lines: inout RecordedLines
    ) {
        let wanted = keys.map { Self.line(of: $0, uri: $0.address?.text, for: segment) }
        guard wanted != keyLines || hasFormerKeys else { return }
        // A key replaces only the key of the same format.
        if keys.isEmpty || keyLines.count > keys.count || hasFormerKeys {
            lines.add("#EXT-X-KEY:METHOD=NONE")
        }
        hasFormerKeys = false
        for (key, text) in zip(keys, wanted) {
            let uri = plan.path(of: key).map { plan.localName($0) } ?? key.uri
            lines.add(text, local: Self.line(of: key, uri: uri, for: segment))
        }
        keyLines = wanted
    }

    /// Returns the line of a key with a URI.
    private static func line(of key: EncryptionKey, uri: String?, for segment: MediaSegment) -> String {
        var line = "#EXT-X-KEY:METHOD=\(WrittenText.token(key.method.rawValue))"
        if let uri { line += ",URI=\"\(WrittenText.uri(uri))\"" }
        // The media sequence numbers of the recording differ from those of the origin.
        if let vector = key.initializationVector {
            line += ",IV=\(WrittenText.token(vector))"
        } else if key.isIdentity, key.method != .aes256GCM {
            // A segment that is encrypted with AES-256-GCM begins with its initialization vector.
            let digits = String(segment.sequence, radix: 16, uppercase: true)
            line += ",IV=0x" + String(repeating: "0", count: 32 - digits.count) + digits
        }
        if !key.isIdentity {
            line += ",KEYFORMAT=\"\(WrittenText.quoted(key.keyFormat))\""
            line += ",KEYFORMATVERSIONS=\"\(key.keyFormatVersions.map(String.init).joined(separator: "/"))\""
        }
        return line
    }
}
