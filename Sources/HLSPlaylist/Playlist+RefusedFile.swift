import MediaTiming
package import ResourceAddressing

extension Playlist {
    /// The names of the attributes of a date range that a player loads, whatever its class: tags with the same identifier are combined.
    private static let dateRangeAddresses: Set<String> = ["X-ASSET-URI", "X-ASSET-LIST", "X-URI"]

    /// The first local file that the playlist names although it was loaded over HTTP, which is not allowed; `nil` if there is none.
    ///
    /// When the playlist is played or downloaded unchanged, transports refuse the resolved addresses of such files (`isRefusedFile`).
    /// An edit can combine the playlist with local ones, so that the playlist has to be verified first.
    ///
    /// - Complexity: O(*n*) in bytes. Most playlists contain no text with which the URL of a file could begin; only their bytes are
    ///   compared.
    package var refusedFile: ResourceAddress? {
        guard context.address != nil, Self.canNameFiles(bytes) else { return nil }
        let (index, variables) =
            switch self {
            case .multivariant(let playlist): (playlist.index, playlist.definedVariables)
            case .media(let playlist): (playlist.index, playlist.header.variables)
            }
        for record in index.tags {
            guard let tag = record.tag, tag == .dateRange || !tag.addresses.isEmpty,
                let tagLine = bytes.tagLine(at: Int(record.lineStart))
            else { continue }
            for attribute in AttributeList(bytes, in: tagLine.value).attributes {
                let isAddress =
                    tag == .dateRange
                    ? Self.dateRangeAddresses.contains(attribute.name)
                    : tag.addresses.contains { $0.name == attribute.name }
                guard isAddress else { continue }
                if let file = context.refusedFile(variables.substitute(attribute.value)) { return file.withoutRefusal }
            }
        }
        for record in index.segments {
            if let file = refusedFile(lineAt: record.uriStart, variables) { return file.withoutRefusal }
        }
        for record in index.variants {
            guard let uriStart = record.uriStart else { continue }
            if let file = refusedFile(lineAt: uriStart, variables) { return file.withoutRefusal }
        }
        return nil
    }

    /// The reason for which the playlist is refused, with the first local file that it names; `nil` if it may be used.
    package var refusalReason: String? {
        refusedFile.map { "the playlist refers to a local file, which a remote playlist must not do: \($0)" }
    }

    private func refusedFile(lineAt offset: UInt32, _ variables: PlaylistVariables) -> ResourceAddress? {
        var scanner = LineScanner(Int(offset)..<bytes.count)
        guard let line = scanner.next(in: bytes.span) else { return nil }
        return context.refusedFile(variables.substitute(bytes.text(line.trimmed(in: bytes.span))))
    }

    /// Returns a Boolean value that indicates whether bytes contain `file:` in any case, or a reference to a variable, whose value can be
    /// a part of it.
    private static func canNameFiles(_ bytes: [UInt8]) -> Bool {
        // The last four bytes in lower case.
        var last: UInt32 = 0
        for byte in bytes {
            if byte == UInt8(ascii: ":"), last == 0x6669_6C65 { return true }
            if byte == UInt8(ascii: "$"), last & 0xFF == UInt32(UInt8(ascii: "{")) { return true }
            last = last << 8 | UInt32(byte | 0x20)
        }
        return false
    }
}
