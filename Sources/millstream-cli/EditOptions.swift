import ArgumentParser
import PlaylistEditing

/// The options for edits, one for each edit of the library, which are applied in the order of the command line.
///
/// The argument parser finds the options of a type by reflection. The mirror of this type has an option or a flag for
/// each edit, and one for a file with edits. All of them append to one array, which therefore has the order of the
/// command line.
struct EditOptions: ParsableArguments, CustomReflectable {
    /// An edit on the command line, before its value is parsed.
    struct NamedValue: Sendable, Hashable {
        let name: String
        var value = ""
    }

    /// The name of the option for a file with edits, which stands in the place of their names.
    private static let programName = "program"

    /// The edits on the command line, in their order.
    private(set) var values: [NamedValue] = []

    init() {}

    init(from decoder: any Decoder) throws {
        values = try decoder.container(keyedBy: CodingKeys.self)
            .decode(Option<[NamedValue]>.self, forKey: .values).wrappedValue
    }

    private enum CodingKeys: CodingKey {
        case values
    }

    var customMirror: Mirror {
        let options = PlaylistEdit.definitions.compactMap { definition -> Mirror.Child? in
            guard let parameter = definition.parameter else { return nil }
            let option = Option<[NamedValue]>(
                wrappedValue: [],
                name: .customLong(definition.name),
                parsing: .unconditionalSingleValue,
                help: ArgumentHelp(definition.summary, valueName: parameter.placeholder),
                transform: { NamedValue(name: definition.name, value: $0) }
            )
            return (CodingKeys.values.stringValue, option)
        }
        let program = Option<[NamedValue]>(
            wrappedValue: [],
            name: .customLong(Self.programName),
            parsing: .unconditionalSingleValue,
            help: ArgumentHelp(
                "Apply the edits of a JSON file, such as [{\"name\": \"max-height\", \"value\": \"720\"}].",
                valueName: "FILE"
            ),
            transform: { NamedValue(name: Self.programName, value: $0) }
        )
        let flags: Mirror.Child = (CodingKeys.values.stringValue, Flag<[NamedValue]>(wrappedValue: []))
        return Mirror(self, children: options + [(CodingKeys.values.stringValue, program), flags])
    }

    /// The plan of the edits.
    ///
    /// - Throws: `PlaylistEditError` if a value is invalid, ``Failure`` if a file cannot be read.
    var plan: EditPlan {
        get throws {
            EditPlan(
                try values.flatMap { value in
                    value.name == Self.programName
                        ? try EditProgramFile.plan(at: value.value).edits
                        : [try PlaylistEdit(name: value.name, value: value.value)]
                }
            )
        }
    }
}

extension EditOptions.NamedValue: EnumerableFlag, CustomStringConvertible {
    /// The edits without a value, which are flags.
    static var allCases: [EditOptions.NamedValue] {
        PlaylistEdit.definitions.filter { $0.parameter == nil }.map { EditOptions.NamedValue(name: $0.name) }
    }

    static func name(for value: EditOptions.NamedValue) -> NameSpecification { .customLong(value.name) }

    static func help(for value: EditOptions.NamedValue) -> ArgumentHelp? {
        PlaylistEdit.definitions.first { $0.name == value.name }.map { ArgumentHelp($0.summary) }
    }

    var description: String { name }
}
