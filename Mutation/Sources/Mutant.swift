/// One small fault in one place of a source file.
struct Mutant {
    /// The kinds of faults that are planted.
    enum Kind: String, CaseIterable {
        case comparison, negation, connective, condition, arithmetic, constant, extremum, argumentOrder, statement
    }

    /// The form in which the fault is written into the source.
    enum Form {
        /// A second expression, evaluated instead of the first.
        case expression(alternative: String)
        /// A statement that is left out.
        case omission
    }

    /// The number that switches the fault on; unique in a build.
    var id: Int32 = 0
    let kind: Kind
    let form: Form
    /// The path of the file below the root of the package.
    let file: String
    /// The name of the innermost declaration around the fault, for people and for ``Equivalents``.
    let declaration: String
    /// The range of the original text, in bytes.
    let range: Range<Int>
    let line: Int
    /// The range of lines of the innermost function around the fault.
    let functionLines: ClosedRange<Int>
    /// The source text that the fault replaces.
    let original: String

    /// A spelling that survives edits elsewhere in the file.
    var signature: String {
        "\(file) | \(declaration) | \(kind.rawValue) | \(Self.folded(original)) | \(change)"
    }

    /// The fault for people.
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
