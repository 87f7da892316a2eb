import MediaTiming

/// A tag of a multivariant playlist that leads to a media playlist, as validation sees it.
struct InspectedEntry {
    let line: InspectedLine
    let attributes: InspectedAttributes
    /// The address of the media playlist as written, with its variables replaced.
    ///
    /// It is `nil` where it is missing or wrong, or where one of its variables is not known.
    let uri: String?

    /// The value of an attribute; `nil` where it is missing, wrong or not known.
    subscript(name: String) -> String? { attributes[name] }
    func has(_ name: String) -> Bool { attributes.has(name) }

    /// The decimal integer in an attribute as a bit rate; `nil` also where it does not fit in 63 bits.
    func bitRate(_ name: String) -> BitRate? { attributes.integer(name).map { BitRate(bitsPerSecond: $0) } }
}

/// What a multivariant playlist offers, as validation sees it.
struct InspectedPresentation {
    /// Those of `EXT-X-STREAM-INF`, also where the address is missing.
    var variants: [InspectedEntry] = []
    var iFrameVariants: [InspectedEntry] = []
    var renditions: [InspectedEntry] = []

    var allVariants: [InspectedEntry] { variants + iFrameVariants }
}

extension PlaylistInspection {
    /// Reads the tags that lead to media playlists.
    ///
    /// - Parameter notes: Whether to note variants without address and addresses without variant.
    /// - Returns: What the playlist offers, each kind in its order.
    func presentation(noting notes: Bool) -> InspectedPresentation {
        var result = InspectedPresentation()
        var pending: InspectedLine?
        func finish(_ uri: String?) {
            guard let line = pending else { return }
            result.variants.append(InspectedEntry(line: line, attributes: attributes(line), uri: uri))
            pending = nil
        }
        func finishWithoutAddress() {
            if notes, let pending { note("stream-inf-without-address", pending) }
            finish(nil)
        }
        for line in lines {
            switch line.tag {
            case nil:
                if notes, pending == nil { note("address-without-stream-inf", line) }
                if pending != nil { finish(address(line)) }
            case .variant:
                finishWithoutAddress()
                pending = line
            case .iFrameVariant: result.iFrameVariants.append(entry(line))
            case .media: result.renditions.append(entry(line))
            default: break
            }
        }
        finishWithoutAddress()
        return result
    }

    /// Reads a tag whose address is an attribute.
    private func entry(_ line: InspectedLine) -> InspectedEntry {
        let attributes = attributes(line)
        return InspectedEntry(line: line, attributes: attributes, uri: attributes["URI"])
    }

    /// Notes a rule that an entry breaks.
    func note(_ rule: String, _ entry: InspectedEntry, _ detail: String? = nil) { note(rule, entry.line, detail) }
}

/// The groups of renditions (RFC 8216bis §4.4.6.1.1), in the order of their first members.
struct InspectedGroups {
    /// What names a group: renditions of different types are never in one.
    struct Key: Hashable {
        let type: String
        let id: String
    }

    private(set) var keys: [Key] = []
    private var membersByKey: [Key: [InspectedEntry]] = [:]
    /// The names of groups whose type cannot be read.
    private var untyped: Set<String> = []

    init(_ renditions: [InspectedEntry]) {
        for rendition in renditions {
            guard let id = rendition["GROUP-ID"] else { continue }
            guard let type = rendition["TYPE"] else {
                untyped.insert(id)
                continue
            }
            let key = Key(type: type, id: id)
            if membersByKey[key] == nil { keys.append(key) }
            membersByKey[key, default: []].append(rendition)
        }
    }

    func members(_ key: Key) -> [InspectedEntry] { membersByKey[key] ?? [] }

    /// Whether a group is there, or may be: one whose type cannot be read is a mistake already, and no other.
    func mayContain(_ key: Key) -> Bool { membersByKey[key] != nil || untyped.contains(key.id) }
}

extension Sequence {
    /// The elements with one key together, in the order of the first of them.
    func grouped<Key: Hashable>(by key: (Element) -> Key) -> [[Element]] {
        var positions: [Key: Int] = [:]
        var groups: [[Element]] = []
        for element in self {
            let position = positions[key(element), default: groups.count]
            if position == groups.count {
                positions[key(element)] = position
                groups.append([])
            }
            groups[position].append(element)
        }
        return groups
    }
}
