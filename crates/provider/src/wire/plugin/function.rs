//! Calling a provider's functions.

use std::sync::{Arc, PoisonError};

use groma_model::schema::FunctionSignature;
use groma_model::ty::Type;

use super::schema::functions;
use super::{Functions, PluginProvider};
use crate::api::{Answer, CallError, CallFunctionRequest, CallFunctionResponse, Provider as _};
use crate::wire::calls::Rpc;
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;

impl PluginProvider {
    pub(super) async fn ask_functions(&self) -> Answer<Functions> {
        let caller = self.caller(Rpc::GetFunctions, "");
        let asked = caller.ask::<_, wire::get_functions::Response>(wire::get_functions::Request {}).await;
        let response = match asked {
            Ok(response) => response,
            Err(CallError::Unsupported { .. }) => return Ok(self.schema().functions.clone()),
            Err(error) => return Err(error),
        };
        let diagnostics = caller.told(response.diagnostics);
        if let Some(found) = diagnostics.iter().find(|found| found.is_error()) {
            return Err(caller.refused(format!("{}: {}", found.summary, found.detail)));
        }
        let functions = functions(response.functions).map_err(|error| caller.malformed(error.to_string()))?;
        self.functions.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&functions);
        Ok(functions)
    }

    fn signature(&self, name: &str) -> Option<Arc<FunctionSignature>> {
        let told_later = || self.functions.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        self.schema().functions.get(name).cloned().or_else(told_later)
    }

    pub(super) async fn ask_function(&self, request: CallFunctionRequest) -> Answer<CallFunctionResponse> {
        let caller = self.caller(Rpc::CallFunction, &request.name);
        let Some(signature) = self.signature(&request.name) else { return Err(caller.unsupported()) };
        if request.arguments.len() < signature.parameters.len() {
            return Err(caller.unfit(format!("it takes {} arguments", signature.parameters.len())));
        }
        let mut arguments = Vec::with_capacity(request.arguments.len());
        for (at, argument) in request.arguments.iter().enumerate() {
            let Some(ty) = parameter_type(&signature, at) else {
                return Err(caller.unfit(format!("it takes no more than {at} arguments")));
            };
            let sent = convert::to_wire(argument, ty);
            arguments.push(sent.map_err(|error| caller.unfit(format!("argument {}: {error}", at + 1)))?);
        }
        let message = wire::call_function::Request { name: request.name.to_string(), arguments };
        let response: wire::call_function::Response = caller.ask(message).await?;
        if let Some(error) = response.error {
            return Ok(CallFunctionResponse { result: Err(convert::function_error(error)) });
        }
        let result = convert::from_wire(response.result, &signature.returns);
        let result = result.map_err(|error| caller.malformed(error.to_string()))?;
        Ok(CallFunctionResponse { result: Ok(result) })
    }
}

fn parameter_type(signature: &FunctionSignature, at: usize) -> Option<&Type> {
    signature.parameters.get(at).or(signature.variadic.as_ref()).map(|parameter| &parameter.ty)
}
