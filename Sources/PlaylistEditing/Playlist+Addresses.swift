public import HLSPlaylist
import MediaTiming
import ResourceAddressing

extension Playlist {
    /// Returns the playlist with other addresses.
    ///
    /// Control characters and quotation marks in a new address are percent-encoded: in a playlist they would end it.
    ///
    /// - Parameters:
    ///   - limits: The maximum size of the result.
    ///   - rewrite: Returns the new address for one of the playlist's; `nil` leaves it as it is.
    /// - Returns: The playlist in which nothing else differs.
    /// - Throws: ``PlaylistEditError`` where the result passes a limit or could not be read back.
    public func rewritingAddresses(
        limits: PlaylistLimits = PlaylistLimits(),
        _ rewrite: (PlaylistAddress) -> String?
    ) throws(PlaylistEditError) -> Playlist {
        var rewriter = AddressRewriter(limit: limits.byteCount, of: self)
        for address in addresses { try rewriter.rewrite(address, as: rewrite(address)) }
        return try patched(rewriter.patch, edit: "the new addresses", limits: limits)
    }

    /// The bytes of the playlist with other addresses; see ``rewritingAddresses(limits:_:)``.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes of the result.
    ///   - rewrite: Returns the new address for one of the playlist's; `nil` leaves it as it is.
    /// - Returns: The bytes.
    /// - Throws: ``PlaylistEditError``, and what `rewrite` throws.
    package func bytes(
        rewritingAddressesUpTo limit: Int,
        _ rewrite: (PlaylistAddress) throws -> String?
    ) throws -> [UInt8] {
        var rewriter = AddressRewriter(limit: limit, of: self)
        for address in addresses { try rewriter.rewrite(address, as: try rewrite(address)) }
        return rewriter.patch.applied(to: bytes)
    }

    /// Returns the playlist with every address absolute, so that it means the same wherever it is read.
    ///
    /// Where the playlist's own address is not known, nothing changes.
    ///
    /// - Parameter limits: The maximum size of the result.
    /// - Returns: The playlist in which nothing else differs.
    /// - Throws: ``PlaylistEditError`` where the result passes a limit or could not be read back.
    public func withAbsoluteAddresses(limits: PlaylistLimits = PlaylistLimits()) throws(PlaylistEditError) -> Playlist {
        try rewritingAddresses(limits: limits) { $0.address.isAbsolute ? $0.address.text : nil }
    }

    /// The playlist after a patch.
    ///
    /// - Parameters:
    ///   - patch: The changes.
    ///   - edit: What made them, for the error.
    ///   - limits: The maximum size of the result.
    /// - Returns: The playlist of the patched bytes.
    /// - Throws: ``PlaylistEditError`` where the result is no playlist of the same kind or passes a limit.
    func patched(
        _ patch: PlaylistPatch,
        edit: String,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> Playlist {
        guard !patch.isEmpty else { return self }
        do throws(PlaylistParsingError) {
            let playlist = try Playlist.parse(patch.applied(to: bytes), context: context, limits: limits)
            guard playlist.kind == kind else {
                throw PlaylistParsingError.unexpectedKind(found: playlist.kind)
            }
            return playlist
        } catch {
            throw PlaylistEditError(error, edit: edit)
        }
    }
}

/// Collects new addresses of a playlist, with the size that it will have.
private struct AddressRewriter {
    private(set) var patch = PlaylistPatch()
    private let bytes: [UInt8]
    private let limit: Int
    private var size: Int

    init(limit: Int, of playlist: Playlist) {
        bytes = playlist.bytes
        size = bytes.count
        self.limit = limit
    }

    /// Puts a new address in the place of one; `nil` leaves it as it is.
    mutating func rewrite(_ address: PlaylistAddress, as text: String?) throws(PlaylistEditError) {
        guard let text, text != String(decoding: bytes[address.range], as: UTF8.self) else { return }
        let encoded = Self.encoded(text)
        // An empty line and a comment are no addresses.
        let isUsable = !encoded.isEmpty && (address.isAttribute || encoded.utf8.first != UInt8(ascii: "#"))
        guard isUsable else { throw .unwritableAddress(text) }
        size += encoded.utf8.count + (address.needsQuotes ? 2 : 0) - address.range.count
        guard size <= limit else { throw .tooLarge(.byteCount(limit)) }
        patch.replace(address.range, with: address.needsQuotes ? "\"\(encoded)\"" : encoded)
    }

    /// The text without what ends an address in a playlist: control characters, quotation marks, spaces at either side.
    private static func encoded(_ text: String) -> String {
        let bytes = text.utf8
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for (position, byte) in bytes.enumerated() {
            let isEdge = position == 0 || position == bytes.count - 1
            if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || isEdge && byte == UInt8(ascii: " ") {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension MediaPlaylist {
    /// Returns the playlist with every address absolute; see ``Playlist/withAbsoluteAddresses(limits:)``.
    public func withAbsoluteAddresses(
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        try Playlist.media(self).withAbsoluteAddresses(limits: limits).asMedia(after: "absolute")
    }
}

extension Playlist {
    /// The media playlist that this is.
    func asMedia(after edit: String) throws(PlaylistEditError) -> MediaPlaylist {
        guard case .media(let playlist) = self else { throw .wrongKind(edit: edit, expected: "media") }
        return playlist
    }

    /// The multivariant playlist that this is.
    func asMultivariant(after edit: String) throws(PlaylistEditError) -> MultivariantPlaylist {
        guard case .multivariant(let playlist) = self else { throw .wrongKind(edit: edit, expected: "multivariant") }
        return playlist
    }

    /// The playlist in its canonical spelling.
    func respelled(limits: PlaylistLimits) throws(PlaylistEditError) -> Playlist {
        do { return try canonical(limits: limits) } catch { throw PlaylistEditError(error, edit: "canonical") }
    }
}
