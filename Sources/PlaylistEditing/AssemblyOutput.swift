import HLSPlaylist

/// The bytes of a playlist that is being assembled, and the keys in force at their end.
///
/// A key replaces only the key of the same format (RFC 8216bis §4.4.4.4), so that the formats of the keys in force decide
/// whether keys have to be ended before others are written.
struct AssemblyOutput {
    private(set) var bytes: [UInt8] = []
    /// The formats of the keys in force at the end of the bytes.
    var keyFormats: Set<String> = []
    private let lineEnd: String

    init(lineEnd: String) { self.lineEnd = lineEnd }

    mutating func writeLine(_ text: String) {
        append(Array((text + lineEnd).utf8))
    }

    mutating func append(_ addition: some Collection<UInt8>) {
        // A playlist may have no line ending after its last line.
        if let last = bytes.last, last != UInt8(ascii: "\n") { bytes += Array(lineEnd.utf8) }
        bytes += addition
    }

    /// Writes the keys that apply to the following lines, and ends the keys of the preceding run.
    ///
    /// - Parameters:
    ///   - keys: All keys that apply to a segment or a map.
    ///   - playlist: The playlist of the keys.
    ///   - hasOwnKeys: Whether the segment's own lines set the keys, possibly with `METHOD=NONE`, before they are
    ///     needed.
    ///   - withLines: Whether to write the lines of inherited keys.
    mutating func writeKeys(
        _ keys: [MediaPlaylist.KeyLine],
        of playlist: MediaPlaylist,
        hasOwnKeys: Bool,
        withLines: Bool = true
    ) {
        let formats = Set(keys.map(\.format))
        // A key replaces only the key of the same format, whereas `METHOD=NONE` in the segment's own lines ends all of
        // them.
        if !keyFormats.isSubset(of: formats), !(keys.isEmpty && hasOwnKeys) {
            writeLine("#EXT-X-KEY:METHOD=NONE")
            keyFormats = []
        }
        guard withLines else { return }
        for key in keys where !key.isOwn { writeLine(playlist.text(key.line)) }
        keyFormats = formats
    }

    /// Writes the keys of a segment with explicit initialization vectors, computed from its original sequence number.
    mutating func writeKeysWithVectors(_ position: Int, of playlist: MediaPlaylist) {
        let keys = playlist.keyLines(for: position)
        let formats = Set(keys.map(\.format))
        if keys.isEmpty || !keyFormats.isSubset(of: formats) { writeLine("#EXT-X-KEY:METHOD=NONE") }
        keyFormats = formats
        for key in keys {
            let text = playlist.text(key.line)
            guard key.usesSequenceAsVector else {
                writeLine(text)
                continue
            }
            let digits = String(playlist.segments[position].sequence, radix: 16, uppercase: true)
            writeLine(text + ",IV=0x" + String(repeating: "0", count: 32 - digits.count) + digits)
        }
    }
}
