public import HLSPlaylist
import MediaTiming
import ResourceAddressing

extension Playlist {
    /// Returns the playlist with replaced URIs.
    ///
    /// Control characters and quotation marks in a new URI are percent-encoded, because they would end it in a
    /// playlist; so are spaces at its ends.
    ///
    /// - Parameters:
    ///   - limits: The maximum sizes of the result.
    ///   - rewrite: A closure that returns the new value of a URI, or `nil` to leave it unchanged.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit or cannot be parsed.
    public func rewritingAddresses(
        limits: PlaylistLimits = PlaylistLimits(),
        _ rewrite: (PlaylistAddress) -> String?
    ) throws(PlaylistEditError) -> Playlist {
        var rewriter = AddressRewriter(limit: limits.byteCount, of: self)
        for address in addresses { try rewriter.rewrite(address, as: rewrite(address)) }
        return try patched(rewriter.patch, edit: "the new URIs", limits: limits)
    }

    /// Returns the bytes of the playlist with replaced URIs; see ``rewritingAddresses(limits:_:)``.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes in the result.
    ///   - definesVariables: A Boolean value that indicates whether variables with values from outside of the playlist
    ///     are defined in it, as in ``definingExternalVariables(limits:)``.
    ///   - rewrite: A closure that returns the new value of a URI, or `nil` to leave it unchanged.
    /// - Returns: The bytes of the edited playlist, which are not parsed.
    /// - Throws: ``PlaylistEditError``, and errors of `rewrite`.
    package func bytes(
        rewritingAddressesUpTo limit: Int,
        definingExternalVariables definesVariables: Bool = false,
        _ rewrite: (PlaylistAddress) throws -> String?
    ) throws -> [UInt8] {
        var rewriter = AddressRewriter(limit: limit, of: self)
        let replaced = try definesVariables ? rewriter.defineVariables(of: self) : [:]
        for address in addresses {
            try rewriter.rewrite(address, as: try rewrite(address) ?? replaced[address.range.lowerBound])
        }
        return rewriter.patch.applied(to: bytes)
    }

    /// Returns the changes that define the variables with values from outside of the playlist in it.
    ///
    /// - Parameter limit: The maximum number of bytes in the result.
    /// - Returns: The changes.
    /// - Throws: ``PlaylistEditError`` if the result exceeds the limit, or if the value of a variable cannot be
    ///   written.
    func definitions(limit: Int) throws(PlaylistEditError) -> PlaylistPatch {
        var rewriter = AddressRewriter(limit: limit, of: self)
        let replaced = try rewriter.defineVariables(of: self)
        guard !replaced.isEmpty else { return rewriter.patch }
        for address in addresses { try rewriter.rewrite(address, as: replaced[address.range.lowerBound]) }
        return rewriter.patch
    }

    /// Returns the playlist with all URIs resolved to absolute URLs, so that it can be moved.
    ///
    /// The playlist is unchanged if its own URL is not known.
    ///
    /// - Parameter limits: The maximum sizes of the result.
    /// - Returns: The playlist, in which nothing else differs.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit or cannot be parsed.
    public func withAbsoluteAddresses(limits: PlaylistLimits = PlaylistLimits()) throws(PlaylistEditError) -> Playlist {
        try rewritingAddresses(limits: limits) { $0.absoluteText }
    }

    /// Returns the playlist after a patch.
    ///
    /// - Parameters:
    ///   - patch: The changes.
    ///   - edit: The name of the edit, for the error message.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist parsed from the patched bytes.
    /// - Throws: ``PlaylistEditError`` if the result is not a playlist of the same kind or exceeds a limit.
    func patched(
        _ patch: PlaylistPatch,
        edit: String,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> Playlist {
        patch.isEmpty ? self : try parsed(patch.applied(to: bytes), edit: edit, limits: limits)
    }

    /// Returns the playlist of the same kind and location that has other bytes, after an edit.
    ///
    /// - Throws: ``PlaylistEditError`` if the bytes cannot be parsed.
    func parsed(
        _ bytes: [UInt8],
        edit: String,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> Playlist {
        do throws(PlaylistParsingError) {
            let playlist = try Playlist.parse(bytes, context: context, limits: limits)
            guard playlist.kind == kind else {
                throw PlaylistParsingError.unexpectedKind(found: playlist.kind)
            }
            return playlist
        } catch {
            throw PlaylistEditError(error, edit: edit)
        }
    }
}

/// A collector of new URIs for a playlist, which tracks the size of the result.
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

    /// Replaces the tags of variables with values from outside of a playlist with their definitions.
    ///
    /// A variable whose value no definition can have is removed, and its references have to be replaced.
    ///
    /// - Returns: The texts of the URIs that refer to removed variables, by their offsets.
    /// - Throws: ``PlaylistEditError`` if the limit is exceeded, or if another attribute refers to a removed variable.
    mutating func defineVariables(of playlist: Playlist) throws(PlaylistEditError) -> [Int: String] {
        for variable in playlist.externalVariables { try define(variable) }
        guard let removed = playlist.unwritableVariables else { return [:] }
        let addresses = playlist.addresses.filter { address in
            !playlist.referencedVariables(in: address.range).isDisjoint(with: removed.names)
        }
        if let reference = playlist.reference(to: removed.names, except: addresses) {
            throw .unwritableVariable(name: String(reference.variable.prefix(64)), tag: reference.tag)
        }
        for line in removed.lines { remove(line) }
        let known = Set(playlist.variables.keys)
        var result: [Int: String] = [:]
        for address in addresses {
            // The value would be read as a reference to another variable; an unknown one has to stay.
            let isComplete = playlist.referencedVariables(in: address.range).isSubset(of: known)
            let text = isComplete ? address.uri.replacing("{$", with: "%7B$") : address.uri
            result[address.range.lowerBound] = text.replacing(" ", with: "%20")
        }
        return result
    }

    private mutating func remove(_ line: Range<Int>) {
        size -|= line.count
        patch.remove(line)
    }

    /// Replaces the tag of a variable with its definition.
    private mutating func define(_ variable: Playlist.ExternalVariable) throws(PlaylistEditError) {
        let size =
            variable.isRepeated
            ? size -| variable.line.count : size +| variable.definition.utf8.count -| variable.text.count
        guard size <= limit else { throw .tooLarge(.byteCount(limit)) }
        self.size = size
        variable.define(in: &patch)
    }

    /// Replaces a URI; `nil` leaves it unchanged.
    mutating func rewrite(_ address: PlaylistAddress, as text: String?) throws(PlaylistEditError) {
        guard let text, text != String(decoding: bytes[address.range], as: UTF8.self) else { return }
        let encoded = WrittenText.uri(text)
        // An empty line or one that begins with `#` is not a URI line.
        let isUsable = !encoded.isEmpty && (address.isAttribute || encoded.utf8.first != UInt8(ascii: "#"))
        guard isUsable else { throw .unwritableAddress(text) }
        size += encoded.utf8.count + (address.needsQuotes ? 2 : 0) - address.range.count
        guard size <= limit else { throw .tooLarge(.byteCount(limit)) }
        patch.replace(address.range, with: address.needsQuotes ? "\"\(encoded)\"" : encoded)
    }
}

extension Playlist {
    /// The values of the variables by their names.
    fileprivate var variables: [String: String] {
        switch self {
        case .media(let playlist): playlist.variables
        case .multivariant(let playlist): playlist.variables
        }
    }
}

extension PlaylistAddress {
    /// The absolute URI for a playlist at another URL; `nil` if the URI cannot be resolved.
    ///
    /// Spaces, which the value of a variable can have, are percent-encoded, because a URI cannot contain them.
    var absoluteText: String? {
        guard address.isAbsolute else { return nil }
        let text = address.text
        return text.utf8.contains(UInt8(ascii: " ")) ? text.replacing(" ", with: "%20") : text
    }
}

extension MediaPlaylist {
    /// Returns the playlist with all URIs absolute; see ``Playlist/withAbsoluteAddresses(limits:)``.
    public func withAbsoluteAddresses(
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        try Playlist.media(self).withAbsoluteAddresses(limits: limits).asMedia(after: "absolute")
    }
}

extension MediaPlaylist {
    /// The tags of segments that have attributes.
    private static let tagsWithAttributes: Set<TagName> = [.key, .map, .dateRange, .part]

    /// Returns the playlist in a form in which its segments can be part of another one: with absolute URIs, and with the values of
    /// its variables (RFC 8216bis §4.3) in the attributes of its tags.
    ///
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit or cannot be parsed.
    func withoutReferences(limits: PlaylistLimits) throws(PlaylistEditError) -> MediaPlaylist {
        let playlist = try Playlist.media(self).withAbsoluteAddresses(limits: limits)
        guard !variables.isEmpty else { return try playlist.asMedia(after: "absolute") }
        var patch = PlaylistPatch()
        // The result is larger than the values that are written; its parse verifies its exact size.
        var writtenSize = 0
        for entry in playlist.tagEntries {
            guard let tag = entry.tag, Self.tagsWithAttributes.contains(tag),
                playlist.bytes[entry.text].contains(UInt8(ascii: "{"))
            else { continue }
            let start = min(entry.text.lowerBound + entry.name.utf8.count + 2, entry.text.upperBound)
            for attribute in AttributeList(playlist.bytes, in: start..<entry.text.upperBound).attributes {
                let substituted = substitutingVariables(attribute.value)
                guard substituted != attribute.value else { continue }
                // A query parameter can have any characters.
                let value = attribute.isQuoted ? WrittenText.quoted(substituted) : WrittenText.token(substituted)
                writtenSize +|= value.utf8.count
                guard writtenSize <= limits.byteCount else { throw .tooLarge(.byteCount(limits.byteCount)) }
                patch.replace(attribute.range, with: value)
            }
        }
        return try playlist.patched(patch, edit: "the variables", limits: limits).asMedia(after: "absolute")
    }
}

extension Playlist {
    /// Returns the associated media playlist, or throws an error for a multivariant playlist.
    func asMedia(after edit: String) throws(PlaylistEditError) -> MediaPlaylist {
        guard case .media(let playlist) = self else { throw .wrongKind(edit: edit, expected: "media") }
        return playlist
    }

    /// Returns the associated multivariant playlist, or throws an error for a media playlist.
    func asMultivariant(after edit: String) throws(PlaylistEditError) -> MultivariantPlaylist {
        guard case .multivariant(let playlist) = self else { throw .wrongKind(edit: edit, expected: "multivariant") }
        return playlist
    }

    /// Returns the playlist in its canonical form.
    func canonicalized(limits: PlaylistLimits) throws(PlaylistEditError) -> Playlist {
        do { return try canonical(limits: limits) } catch { throw PlaylistEditError(error, edit: "canonical") }
    }
}
