import MediaTiming

/// A tag of a multivariant playlist that refers to a media playlist, with its attributes.
struct InspectedEntry {
    let line: InspectedLine
    let attributes: InspectedAttributes
    /// The URI of the media playlist as written, with variables replaced.
    ///
    /// The value is `nil` if the URI is missing or invalid, or if it contains a variable whose value is not known.
    let uri: String?

    /// The value of an attribute, or `nil` if it is missing, invalid or not known.
    subscript(name: String) -> String? { attributes[name] }
    func has(_ name: String) -> Bool { attributes.has(name) }

    /// Returns the integer in an attribute as a bit rate, or `nil` if it is missing, invalid or exceeds 63 bits.
    func bitRate(_ name: String) -> BitRate? { attributes.integer(name).map { BitRate(bitsPerSecond: $0) } }
}

/// The variants and renditions of a multivariant playlist.
struct InspectedPresentation {
    /// The `EXT-X-STREAM-INF` tags, including those without a URI.
    var variants: [InspectedEntry] = []
    var iFrameVariants: [InspectedEntry] = []
    var renditions: [InspectedEntry] = []

    var allVariants: [InspectedEntry] { variants + iFrameVariants }
}

extension PlaylistInspection {
    /// Reads the tags that refer to media playlists.
    ///
    /// - Parameter notes: Whether to report variants without a URI and URIs without a variant.
    /// - Returns: The variants, I-frame variants and renditions, each in order.
    func presentation(noting notes: Bool) -> InspectedPresentation {
        var result = InspectedPresentation()
        var pending: InspectedLine?
        func finish(_ uri: String?) {
            guard let line = pending else { return }
            result.variants.append(InspectedEntry(line: line, attributes: attributes(line), uri: uri))
            pending = nil
        }
        func finishWithoutAddress() {
            if notes, let pending { note(.streamInfWithoutAddress, pending) }
            finish(nil)
        }
        for line in lines {
            if line.tag == nil {
                if notes, pending == nil { note(.addressWithoutStreamInf, line) }
                finish(address(line))
            } else if line.tag == .variant {
                finishWithoutAddress()
                pending = line
            } else if line.tag == .iFrameVariant {
                result.iFrameVariants.append(entry(line))
            } else if line.tag == .media {
                result.renditions.append(entry(line))
            }
        }
        finishWithoutAddress()
        return result
    }

    /// Reads a tag whose URI is an attribute.
    private func entry(_ line: InspectedLine) -> InspectedEntry {
        let attributes = attributes(line)
        return InspectedEntry(line: line, attributes: attributes, uri: attributes["URI"])
    }

    /// Reports that an entry violates a rule.
    func note(_ rule: Rule, _ entry: InspectedEntry, _ detail: String? = nil) { note(rule, entry.line, detail) }
}

/// The rendition groups (RFC 8216bis §4.4.6.1.1), in the order of their first members.
struct InspectedGroups {
    /// The identity of a group, which includes the type: renditions of different types are never in the same group.
    struct Key: Hashable {
        let type: String
        let id: String
    }

    private(set) var keys: [Key] = []
    private var membersByKey: [Key: [InspectedEntry]] = [:]
    /// The identifiers of groups with a rendition whose type cannot be read.
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

    /// Returns a Boolean value that indicates whether a group exists or may exist.
    ///
    /// A group of unknown type may be the one that is searched. Its missing type is reported by another rule.
    func mayContain(_ key: Key) -> Bool { membersByKey[key] != nil || untyped.contains(key.id) }
}

extension Sequence {
    /// Returns the elements grouped by a key, in the order of the first element of each group.
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
