import MediaTiming

extension Playlist {
    /// Returns the playlist in a canonical form with the same meaning, written strictly as the standard requires.
    ///
    /// Lines end with LF; blank lines, comments, the byte-order mark, and URIs without a tag are removed. Playlist-wide
    /// tags come first, once each, in the order of the standard; those of a segment remain in order, with the byte
    /// range and the duration last. Attributes are in the order of the standard, followed by unknown ones, with
    /// quotation marks if their type requires them, and without spaces. Digits and unknown tags are unchanged.
    ///
    /// - Parameter limits: The maximum sizes of the result.
    /// - Returns: A playlist with the same values; the canonical form of the result is the result itself.
    /// - Throws: ``PlaylistParsingError`` if the result exceeds a limit or would be a playlist of the other kind.
    public func canonical(limits: PlaylistLimits = PlaylistLimits()) throws(PlaylistParsingError) -> Playlist {
        var writer = CanonicalWriter(playlist: self)
        writer.write()
        let playlist = try Playlist.parse(Array(writer.output.utf8), context: context, limits: limits)
        guard playlist.kind == kind else { throw .unexpectedKind(found: playlist.kind) }
        return playlist
    }
}

/// A writer that creates the canonical form of a playlist from its lines.
private struct CanonicalWriter {
    let playlist: Playlist
    private(set) var output = ""

    init(playlist: Playlist) { self.playlist = playlist }

    private var bytes: [UInt8] { playlist.bytes }

    mutating func write() {
        append("#EXTM3U")
        switch playlist {
        case .media(let media): write(media)
        case .multivariant(let multivariant): write(multivariant)
        }
    }

    private mutating func append(_ line: String) { output += line + "\n" }

    // MARK: Playlist-wide tags

    private mutating func writeHead(_ index: PlaylistIndex) {
        var lines: [TagName: [TagLine]] = [:]
        for record in index.tags {
            guard let tag = record.tag, tag.definition.isPlaylistWide,
                let line = bytes.tagLine(at: Int(record.lineStart))
            else { continue }
            lines[tag, default: []].append(line)
        }
        for tag in TagName.allCases where tag != .header && tag != .endList {
            guard let written = lines[tag] else { continue }
            // Tags that may be repeated are written in order; of any other tag, the first readable one.
            let spelled = written.compactMap { canonicalForm(tag, $0.value) }
            for line in tag.definition.repetition == nil ? spelled[...] : spelled.prefix(1) { append(line) }
        }
    }

    /// Returns a tag in its canonical form, or `nil` if its value cannot be read.
    private func canonicalForm(_ tag: TagName, _ value: Range<Int>?) -> String? {
        let definition = tag.definition
        let text = value.map { String(Substring(bytes.text($0)).trimmingBlanks()) } ?? ""
        func line(_ value: String) -> String { "#\(definition.name):\(value)" }
        switch definition.value {
        case .none: return tag == .header ? nil : "#\(definition.name)"
        case .integer(let maximum):
            return value.flatMap { bytes.trimmedInteger($0) }.flatMap { $0 <= maximum ? line(String($0)) : nil }
        case .wholeSeconds: return MediaTime(decimal: text).flatMap { $0 >= .zero ? line(text) : nil }
        case .word(let known): return known.words.contains(text) ? line(text) : nil
        case .segmentInformation: return segmentInformation(value ?? 0..<0)
        case .byteRange:
            return WrittenByteRange(text).map { range in
                line("\(range.length)" + (range.start.map { "@\($0)" } ?? ""))
            }
        case .date: return text.isEmpty ? nil : line(text)
        case .attributes:
            guard !definition.isPlaylistWide || definition.isReadable(AttributeList(bytes, in: value)) else {
                return nil
            }
            return attributeList(definition, value)
        }
    }

    private func segmentInformation(_ value: Range<Int>) -> String {
        let span = bytes.span
        let comma = span.firstIndex(of: UInt8(ascii: ","), in: value) ?? value.upperBound
        let digits = bytes.text(span.trimmingBlanks(value.lowerBound..<comma))
        return "#EXTINF:\(digits),\(SegmentInformation.title(bytes, in: value) ?? "")"
    }

    private func attributeList(_ definition: TagDefinition, _ value: Range<Int>?) -> String {
        let order = Dictionary(
            (definition.attributes ?? []).enumerated().map { ($0.element.name, $0.offset) },
            uniquingKeysWith: { first, _ in first }
        )
        var seen: Set<String> = []
        let attributes = AttributeList(bytes, in: value).attributes.filter { seen.insert($0.name).inserted }
        let sorted = attributes.enumerated().sorted { first, second in
            let positions = (order[first.element.name] ?? .max, order[second.element.name] ?? .max)
            return positions.0 != positions.1 ? positions.0 < positions.1 : first.offset < second.offset
        }
        let spelled = sorted.map { canonicalForm($0.element, definition.attribute($0.element.name)?.kind) }
        return "#\(definition.name):\(spelled.joined(separator: ","))"
    }

    private func canonicalForm(_ attribute: AttributeList.Attribute, _ kind: AttributeKind?) -> String {
        let isQuoted: Bool =
            switch kind {
            case .string, .anyString, .enumeratedList: true
            case .captions: attribute.isQuoted || attribute.value != "NONE"
            case nil: attribute.isQuoted
            case .integer, .hexadecimal, .decimal, .signedDecimal, .enumerated, .resolution:
                attribute.value.isEmpty || attribute.value.contains(",")
            }
        // A value that contains a quotation mark cannot be quoted.
        let mayBeQuoted = !attribute.value.contains("\"")
        return attribute.name + "=" + (isQuoted && mayBeQuoted ? "\"\(attribute.value)\"" : attribute.value)
    }

    // MARK: Media playlists

    private mutating func write(_ media: MediaPlaylist) {
        writeHead(media.index)
        for position in 0...media.segments.count { writeBlock(media, position) }
        if media.hasEndMarker { append("#EXT-X-ENDLIST") }
    }

    /// Writes the lines of a segment; for the number of segments, the lines after the last segment.
    private mutating func writeBlock(_ media: MediaPlaylist, _ position: Int) {
        var information: String?
        var byteRange: String?
        for line in media.lines(ofSegment: position) {
            if line.isURI {
                if let byteRange { append(byteRange) }
                append(information ?? "#EXTINF:0,")
                append(bytes.text(line.text))
                return
            }
            switch line.tag {
            case .segmentInformation: information = canonicalForm(.segmentInformation, line.value)
            case .byteRange: byteRange = canonicalForm(.byteRange, line.value)
            case let tag?:
                guard !tag.definition.isPlaylistWide, tag.scope != .multivariant,
                    let spelled = canonicalForm(tag, line.value)
                else {
                    continue
                }
                append(spelled)
            case nil: writeUnknown(line.text)
            }
        }
    }

    private mutating func writeUnknown(_ text: Range<Int>) {
        guard TagLine.name(in: text, bytes.span) != nil else { return }
        append(bytes.text(text))
    }

    // MARK: Multivariant playlists

    private mutating func write(_ multivariant: MultivariantPlaylist) {
        writeHead(multivariant.index)
        let addresses = Dictionary(
            multivariant.variants.map { ($0.tagLine.lowerBound, $0.uriRange) },
            uniquingKeysWith: { first, _ in first }
        )
        for record in multivariant.index.tags {
            guard let line = bytes.tagLine(at: Int(record.lineStart)) else { continue }
            switch record.tag {
            case .variant:
                guard let address = addresses[Int(record.lineStart)] else { continue }
                append(attributeList(TagName.variant.definition, line.value))
                append(bytes.text(address))
            case let tag? where tag.scope == .multivariant: append(attributeList(tag.definition, line.value))
            case .some: continue
            case nil: writeUnknown(line.line.trimmed(in: bytes.span))
            }
        }
    }
}
