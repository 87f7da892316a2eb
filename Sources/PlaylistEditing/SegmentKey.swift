import Foundation
import HLSPlaylist
import MediaTiming

/// An AES-128 key that replaces the keys that playlists name (RFC 8216bis §4.4.4.4).
public struct SegmentKey: Sendable, Hashable {
    /// The 16 bytes of the key.
    public let bytes: [UInt8]
    /// The 16 bytes of the initialization vector; `nil` for that of the playlist.
    public let initializationVector: [UInt8]?

    /// Creates a key.
    ///
    /// - Returns: `nil` if the key or the initialization vector does not have 16 bytes.
    public init?(bytes: [UInt8], initializationVector: [UInt8]? = nil) {
        guard bytes.count == Self.size, initializationVector.map({ $0.count == Self.size }) ?? true else { return nil }
        self.bytes = bytes
        self.initializationVector = initializationVector
    }

    /// The size of a key and of an initialization vector in bytes.
    private static let size = 16
    /// The lowest version with initialization vectors.
    fileprivate static let vectorVersion = 2
}

extension SegmentKey: LosslessStringConvertible {
    /// The key as hexadecimal digits, followed by `,iv=` and those of the initialization vector if there is one.
    public var description: String {
        Self.hexadecimal(bytes) + (initializationVector.map { ",iv=" + Self.hexadecimal($0) } ?? "")
    }

    /// Creates a key from text of the form `KEY` or `KEY,iv=VECTOR`, each with 32 hexadecimal digits and optionally `0x`.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard let key = parts.first.flatMap(Self.bytes) else { return nil }
        switch parts.count {
        case 1: self.init(bytes: key)
        case 2:
            guard parts[1].hasPrefix("iv="), let vector = Self.bytes(parts[1].dropFirst(3)) else { return nil }
            self.init(bytes: key, initializationVector: vector)
        default: return nil
        }
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let digits = Array((text.lowercased().hasPrefix("0x") ? text.dropFirst(2) : text).utf8)
        guard digits.count == size *| 2 else { return nil }
        var result: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Character(UnicodeScalar(digits[index])).hexDigitValue,
                let low = Character(UnicodeScalar(digits[index + 1])).hexDigitValue
            else { return nil }
            result.append(UInt8(truncatingIfNeeded: high << 4 | low))
        }
        return result
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

extension Playlist {
    /// Returns the playlist with another key of its encrypted segments.
    ///
    /// The key is part of the playlist as a `data:` URL. A media playlist that names no key is encrypted with `AES-128`
    /// entirely. Keys of other systems (`KEYFORMAT` other than `identity`) remain. Session keys that become equal are written
    /// once.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit.
    func settingKey(_ key: SegmentKey, limits: PlaylistLimits) throws(PlaylistEditError) -> Playlist {
        let address = "\"data:application/octet-stream;base64,\(Data(key.bytes).base64EncodedString())\""
        // Hexadecimal digits are uppercase (RFC 8216bis §4.2).
        let vector = key.initializationVector.map { _ in "0x" + key.description.suffix(32).uppercased() }
        let entries = tagEntries
        let keys = entries.filter { $0.tag == .key || $0.tag == .sessionKey }
        var patch = PlaylistPatch()
        var sessionKeys: Set<[String]> = []
        for entry in keys {
            let value = min(entry.text.lowerBound + entry.name.utf8.count + 2, entry.text.upperBound)
            let attributes = AttributeList(bytes, in: value..<entry.text.upperBound)
            let format = attributes["KEYFORMAT"] ?? ""
            guard let method = attributes["METHOD"], method != "NONE", ["", "identity"].contains(format) else {
                continue
            }
            // Several keys become the same one, and session keys must not be repeated (RFC 8216bis §4.4.6.5).
            let identity = [method, vector ?? attributes["IV"] ?? "", attributes["KEYFORMATVERSIONS"] ?? "1"]
            guard entry.tag == .key || sessionKeys.insert(identity).inserted else {
                patch.remove(entry.line)
                continue
            }
            attributes.set("URI", to: address, in: &patch)
            if let vector { attributes.set("IV", to: vector, in: &patch) }
        }
        if keys.isEmpty, kind == .media, let header = entries.first(where: { $0.tag == .header }) {
            let end = header.line.upperBound
            let isAfterLineEnd = bytes[end - 1] == UInt8(ascii: "\n")
            let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\(address)" + (vector.map { ",IV=\($0)" } ?? "")
            patch.replace(end..<end, with: (isAfterLineEnd ? "" : lineEnd) + tag + lineEnd)
        }
        guard !patch.isEmpty else { return self }
        if vector != nil { raiseVersion(of: entries, &patch) }
        return try patched(patch, edit: "key", limits: limits)
    }

    /// Raises the version to that of playlists with initialization vectors (RFC 8216bis §8).
    private func raiseVersion(of entries: [TagEntry], _ patch: inout PlaylistPatch) {
        guard case .media(let playlist) = self, playlist.version < SegmentKey.vectorVersion else { return }
        let tag = "#EXT-X-VERSION:\(SegmentKey.vectorVersion)"
        if let entry = entries.first(where: { $0.tag == .version }) {
            patch.replace(entry.text, with: tag)
        } else if let header = entries.first(where: { $0.tag == .header }) {
            patch.replace(header.text, with: String(decoding: bytes[header.text], as: UTF8.self) + lineEnd + tag)
        }
    }
}

extension EditValueType where Value == SegmentKey {
    /// An AES-128 key, with an optional initialization vector.
    static var segmentKey: EditValueType {
        EditValueType(
            parameter: EditParameter(
                .key,
                placeholder: "KEY",
                form: "32 hexadecimal digits, and optionally ,iv= with 32 hexadecimal digits"
            ),
            parse: { SegmentKey($0) },
            format: \.description
        )
    }
}
