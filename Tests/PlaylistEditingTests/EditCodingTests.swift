import Foundation
import PlaylistEditing
import Testing

/// Tests the JSON of edits.
@Suite struct EditCodingTests {
    @Test func everyEditIsEncodedAndDecoded() throws {
        let edits = try PlaylistEdit.definitions.map { definition in
            try PlaylistEdit(name: definition.name, value: definition.examples.first ?? "")
        }
        let data = try JSONEncoder().encode(EditPlan(edits))
        #expect(try JSONDecoder().decode(EditPlan.self, from: data) == EditPlan(edits))
    }

    @Test func editWithoutParameterHasNoValue() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(EditPlan([.maxHeight(720), .noIFrames])), as: UTF8.self)
        #expect(text == #"[{"name":"max-height","value":"720"},{"name":"no-i-frames"}]"#)
    }

    @Test func invalidEditIsNamed() throws {
        func decode(_ text: String) throws -> EditPlan {
            try JSONDecoder().decode(EditPlan.self, from: Data(text.utf8))
        }
        #expect(throws: PlaylistEditError.unknownEdit("nothing")) { try decode(#"[{"name":"nothing"}]"#) }
        let error = #expect(throws: PlaylistEditError.self) { try decode(#"[{"name":"max-height"}]"#) }
        #expect(error?.code == .invalidValue)
        let other = #expect(throws: PlaylistEditError.self) { try decode(#"[{"name":"no-i-frames","value":"x"}]"#) }
        #expect(other?.code == .invalidValue)
        #expect(try decode(#"[{"name":"no-i-frames","value":"false"},{"name":"absolute"}]"#).edits == [.absolute])
        #expect(throws: DecodingError.self) { try decode(#"{"name":"absolute"}"#) }
    }
}
