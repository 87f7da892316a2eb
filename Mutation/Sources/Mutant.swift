/// A mutation at one location in a source file.
struct Mutant {
    /// The kinds of mutations.
    enum Kind: String, CaseIterable {
        case comparison, negation, connective, condition, arithmetic, constant, extremum, argumentOrder, statement
    }

    /// The form in which the mutation is written to the source.
    enum Form {
        /// An alternative expression, evaluated instead of the original.
        case expression(alternative: String)
        /// A statement that is omitted.
        case omission
    }

    /// The number that activates the mutation; unique in a build.
    var id: Int32 = 0
    let kind: Kind
    let form: Form
    /// The path of the file relative to the root of the package.
    let file: String
    /// The name of the innermost declaration that contains the mutation, for reports and for ``Equivalents``.
    let declaration: String
    /// The range of the original text, in bytes of UTF-8.
    let range: Range<Int>
    let line: Int
    /// The lines of the outermost function or property that contains the mutation.
    let functionLines: ClosedRange<Int>
    /// The source text that the mutation replaces.
    let original: String

    /// A description that remains the same when other parts of the file are edited.
    var signature: String {
        "\(file) | \(declaration) | \(kind.rawValue) | \(Self.folded(original)) | \(change)"
    }

    /// A description that no other mutation of the same sources has.
    var identity: String { "\(range.lowerBound) | \(signature)" }

    /// The replacement, for reports.
    var change: String {
        switch form {
        case .expression(let alternative): Self.folded(alternative)
        case .omission: "(left out)"
        }
    }

    private static func folded(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
