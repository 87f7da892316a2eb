import AssetStorage
import Foundation

/// A path with fields in braces, such as `{title} ({height}p).mp4`.
struct FileNameTemplate {
    /// A field of a template.
    enum Field: String, CaseIterable {
        /// The title of the asset.
        case title
        /// The identifier of the asset.
        case id
        /// The height of the best stored variant in pixels, `audio` if it has no video, or `unknown`.
        case height
        /// The date of today in UTC, such as `2026-11-26`.
        case date
        /// The number of a part, beginning with 1.
        case part
    }

    private enum Piece {
        case text(String)
        case field(Field)
    }

    private let pieces: [Piece]

    /// The names of the fields, for messages.
    static let fields = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")

    /// Creates a template from text, in which `{{` and `}}` stand for braces.
    ///
    /// - Returns: `nil` if a field is unknown or a brace has no counterpart.
    init?(_ text: String) {
        var pieces: [Piece] = []
        var literal = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            if (character == "{" || character == "}"), rest.first == character {
                literal.append(character)
                rest.removeFirst()
            } else if character == "{" {
                guard let end = rest.firstIndex(of: "}"), let field = Field(rawValue: String(rest[..<end])) else {
                    return nil
                }
                pieces += [.text(literal), .field(field)]
                literal = ""
                rest = rest[rest.index(after: end)...]
            } else if character == "}" {
                return nil
            } else {
                literal.append(character)
            }
        }
        self.pieces = pieces + [.text(literal)]
    }

    /// Returns a Boolean value that indicates whether the template has a field.
    func contains(_ field: Field) -> Bool {
        pieces.contains { piece in
            if case .field(field) = piece { true } else { false }
        }
    }

    /// Returns the path of a file of an asset that is not downloaded yet; `nil` if a field depends on the asset.
    ///
    /// - Parameter title: The title that the asset will have; `nil` if it is not known.
    /// - Returns: The path.
    func path(forTitle title: String?) -> String? {
        var path = ""
        for piece in pieces {
            switch piece {
            case .text(let text): path += text
            case .field(.title):
                guard let title else { return nil }
                path += Self.fileName(title)
            case .field(.date): path += Self.fileName(Self.today)
            case .field(.id), .field(.height), .field(.part): return nil
            }
        }
        return path
    }

    /// The date of today in UTC.
    private static var today: String { Date().formatted(.iso8601.year().month().day()) }

    /// Returns the height of the best variant that the playlists declare; `nil` if they declare none.
    static func declaredHeight(of asset: StoredAsset, in folders: Set<String>?) -> Int? {
        asset.renditions.filter { folders?.contains($0.folder) ?? true && $0.role == .variant }
            .compactMap(\.height).max()
    }

    /// Returns the path for an asset, or for its media playlists in some directories.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - folders: The directories of the media playlists; `nil` for all.
    ///   - part: The number of the part, beginning with 0; `nil` for all parts.
    ///   - height: The value of the field `{height}`.
    /// - Returns: The path.
    func path(for asset: StoredAsset, in folders: Set<String>?, part: Int?, height: String) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .field(let field):
                switch field {
                case .title: Self.fileName(asset.title)
                case .id: Self.fileName(asset.id)
                case .height: Self.fileName(height)
                case .date: Self.fileName(Self.today)
                case .part: Self.fileName(part.map { "\($0 + 1)" } ?? "1")
                }
            }
        }.joined()
    }

    /// The maximum length of a value in a file name, in bytes; file systems permit 255 for the entire name.
    private static let maximumLength = 180

    /// Returns a text as a part of a file name: without separators and control characters, and without a leading dot.
    private static func fileName(_ text: String) -> String {
        var result = ""
        for character in text {
            let isAllowed = character.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
                default: !"/\\:*?\"<>|".unicodeScalars.contains(scalar)
                }
            }
            let next = isAllowed ? String(character) : "_"
            guard result.utf8.count + next.utf8.count <= maximumLength else { break }
            result += next
        }
        while result.last == " " || result.last == "." { result.removeLast() }
        if result.first == "." { result = "_" + result.dropFirst() }
        return result.isEmpty ? "untitled" : result
    }
}
