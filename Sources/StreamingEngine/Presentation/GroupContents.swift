import HLSPlaylist
import MediaTiming

/// The contents of the rendition groups, by which groups with different identifiers are recognized as equal.
struct GroupContents {
    private var contents: [Key: UInt64] = [:]

    private struct Key: Hashable {
        let type: Rendition.MediaType
        let groupID: String
    }

    init(_ groups: [MediaSelectionGroup]) {
        var members: [Key: [String]] = [:]
        for group in groups {
            for option in group.options {
                let name = [option.name, option.language ?? "", option.isForced ? "forced" : ""].joined(separator: "/")
                for encoding in option.encodings {
                    let details = [
                        encoding.channels.map { "\($0.count)" }, encoding.stableID,
                        encoding.sampleRate.map { "\($0)" }, encoding.address == nil ? "muxed" : nil,
                    ]
                    let text = ([name] + details.map { $0 ?? "" }).joined(separator: "/")
                    members[Key(type: group.type, groupID: encoding.groupID), default: []].append(text)
                }
            }
        }
        contents = members.mapValues { StableHash($0.joined(separator: ",")).value }
    }

    /// Returns a hash as text, which is the same for groups with the same members.
    func text(of type: Rendition.MediaType, _ groupID: String) -> String {
        String(contents[Key(type: type, groupID: groupID)] ?? 0, radix: 16)
    }
}
