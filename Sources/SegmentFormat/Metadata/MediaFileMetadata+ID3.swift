extension MediaFileMetadata {
    /// Creates the metadata of an ID3 tag: the frames `TIT2`, `TPE1`, `TALB` and `APIC`, and those of version 2.2.
    package init(_ tag: ID3Tag) {
        self.init()
        for frame in tag.frames {
            switch frame.value {
            case .text(let values):
                guard let property = TextProperty(frame.id) else { break }
                add(values.filter { !$0.isEmpty }.joined(separator: ", "), as: property)
            case .attachedImage(_, let pictureType, _, let data):
                addArtwork(data, isFrontCover: pictureType == 3)
            case .userText, .url, .userURL, .comment, .privateData, .object, .other: break
            }
        }
    }
}

extension MediaFileMetadata.TextProperty {
    /// Creates the property of a frame; `nil` for other frames.
    fileprivate init?(_ frameID: String) {
        switch frameID {
        case "TIT2", "TT2": self = .title
        case "TPE1", "TP1": self = .artist
        case "TALB", "TAL": self = .albumTitle
        default: return nil
        }
    }
}
