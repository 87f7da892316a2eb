extension PlaylistEdit: Codable {
    fileprivate enum CodingKeys: String, CodingKey {
        case name, value
    }

    /// Creates an edit from an object with the fields `name` and, for edits with a parameter, `value`.
    ///
    /// - Throws: ``PlaylistEditError`` if no edit has the name or the value is invalid.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            name: fields.decode(String.self, forKey: .name),
            value: fields.decodeIfPresent(String.self, forKey: .value) ?? ""
        )
    }

    /// Encodes the name and, for an edit with a parameter, the value.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(definition.name, forKey: .name)
        if definition.parameter != nil { try fields.encode(value, forKey: .value) }
    }
}

extension EditPlan: Codable {
    /// An edit in a list, which the value `0` or `false` leaves out if it has no parameter.
    private struct Entry: Decodable {
        let edit: PlaylistEdit?

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: PlaylistEdit.CodingKeys.self)
            edit = try PlaylistEdit.edit(
                named: fields.decode(String.self, forKey: .name),
                fields.decodeIfPresent(String.self, forKey: .value) ?? ""
            )
        }
    }

    /// Creates a plan from a list of edits in the order in which they are applied.
    ///
    /// - Throws: ``PlaylistEditError`` if an edit is invalid.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([Entry].self).compactMap(\.edit))
    }

    /// Encodes the list of edits.
    public func encode(to encoder: any Encoder) throws {
        var list = encoder.singleValueContainer()
        try list.encode(edits)
    }
}
