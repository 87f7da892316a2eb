import MediaTiming
import ReportFormat
import ResourceAddressing

/// The field of `inspect --json` with the value of an attribute.
struct AttributeReport: Sendable {
    /// The form of the value in JSON.
    enum Form: Sendable {
        /// A string.
        case text
        /// A number without a fraction.
        case integer
        /// The exact number, without trailing zeros.
        case decimal
        /// A number in the shortest form.
        case real
        /// The items of a list that is separated by commas; an empty list is omitted.
        case list
        /// `true` or `false`, also if the attribute is missing.
        case flag
        /// `true`, or omitted.
        case flagIfSet
        /// Two numbers, `width` and `height`.
        case resolution
    }

    let name: String
    let form: Form

    init(_ name: String, _ form: Form) {
        self.name = name
        self.form = form
    }

    /// Creates the field of an attribute that has the usual form of its kind.
    init(attribute name: String, _ kind: AttributeKind) {
        let form: Form =
            switch kind {
            case .integer: .integer
            case .decimal, .signedDecimal: .decimal
            case .resolution: .resolution
            case .enumeratedList: .list
            case .hexadecimal, .string, .anyString, .enumerated, .captions: .text
            }
        self.init(Self.fieldName(of: name), form)
    }

    /// Returns the name of the field of an attribute: `STABLE-VARIANT-ID` becomes `stableVariantID`.
    private static func fieldName(of attribute: String) -> String {
        let parts = attribute.split(separator: "-")
        return parts.enumerated().map { position, part in
            if position == 0 { return part.lowercased() }
            return ["ID", "URI", "CPC"].contains(part) ? String(part) : part.prefix(1) + part.dropFirst().lowercased()
        }.joined()
    }

    /// Returns the fields with the value of the attribute; none if it is missing or invalid.
    fileprivate func fields(_ attribute: AttributeDefinition, of list: AttributeList) -> [ReportValue.Field] {
        func field(_ value: ReportValue?) -> [ReportValue.Field] {
            value.map { [ReportValue.Field(name: name, value: $0)] } ?? []
        }
        switch form {
        case .text: return field(list[attribute.name].map { .string($0) })
        case .integer: return field(list.integer(attribute.name).map { .integer($0) })
        case .decimal: return field(list.decimal(attribute.name).map { .seconds($0) })
        case .real:
            return field(
                list[attribute.name].flatMap { Double($0) }.flatMap { $0 >= 0 && $0.isFinite ? .real($0) : nil }
            )
        case .list:
            let items = list.list(attribute.name)
            return field(items.isEmpty ? nil : .strings(items))
        case .flag: return field(.bool(list.isYes(attribute.name)))
        case .flagIfSet: return field(list.isYes(attribute.name) ? .bool(true) : nil)
        case .resolution:
            guard let resolution = list.resolution(attribute.name) else { return [] }
            return [
                ReportValue.Field(name: "width", value: .integer(resolution.width)),
                ReportValue.Field(name: "height", value: .integer(resolution.height)),
            ]
        }
    }
}

extension TagDefinition {
    /// Returns the fields with the values of the attributes, in the order of the standard; an attribute with a URI is
    /// followed by the absolute URL, if it is known.
    func reportFields(_ list: AttributeList, context: PlaylistContext) -> [ReportValue.Field] {
        (attributes ?? []).flatMap { attribute -> [ReportValue.Field] in
            guard let report = attribute.report else { return [] }
            let fields = report.fields(attribute, of: list)
            guard attribute.role != nil, let uri = list[attribute.name] else { return fields }
            let address = context.resolve(uri)
            guard address.isAbsolute else { return fields }
            let name = report.name == "uri" ? "url" : report.name.replacing("URI", with: "URL")
            return fields + [ReportValue.Field(name: name, value: .string(address.withoutUserInformation.text))]
        }
    }

    /// Returns the value of a tag as JSON, or `nil` if it cannot be read.
    func report(_ line: TagLine, of text: PlaylistText) -> ReportValue? {
        guard attributes != nil else {
            guard let value = line.value else { return .bool(true) }
            if case .integer = self.value { return text.bytes.trimmedInteger(value).map { .integer($0) } }
            return .string(text.bytes.text(value))
        }
        let list = AttributeList(text.bytes, in: line.value, variables: text.variables)
        guard isReadable(list) else { return nil }
        return .object(reportFields(list, context: text.context))
    }
}

extension PlaylistIndex {
    /// Returns the first readable tag of a name as JSON, or `nil` if there is none.
    func report(_ tag: TagName, in text: PlaylistText) -> ReportValue? {
        Self.values(of: tag, tags[...], in: text).first
    }

    private static func values(
        of tag: TagName,
        _ records: ArraySlice<TagRecord>,
        in text: PlaylistText
    ) -> [ReportValue] {
        let definition = tag.definition
        return records.filter { $0.tag == tag }.compactMap { record in
            text.bytes.tagLine(at: Int(record.lineStart)).flatMap { definition.report($0, of: text) }
        }
    }

    /// Returns the fields of `inspect --json` for the tags that no type of this module writes.
    ///
    /// - Parameters:
    ///   - records: The tags that may be reported, in order.
    ///   - isReported: A closure that selects the scopes to report; all by default.
    ///   - text: The text of the playlist.
    /// - Returns: A field for each tag; an array if the tag may be repeated.
    func reportFields(
        of records: ArraySlice<TagRecord>,
        where isReported: (TagDefinition.Scope) -> Bool = { _ in true },
        in text: PlaylistText
    ) -> [ReportValue.Field] {
        let reported = TagName.reported.filter { isReported($0.scope) }
        guard !reported.isEmpty else { return [] }
        return reported.compactMap { tag in
            let values = Self.values(of: tag, records, in: text)
            guard let name = tag.definition.reportName, let first = values.first else { return nil }
            return ReportValue.Field(name: name, value: tag.definition.repetition == nil ? .array(values) : first)
        }
    }
}
